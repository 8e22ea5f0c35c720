/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.ebpf. */
#include "agent/component/ebpf/ebpf_args.h"

#include <string.h>

#include "agent/component/receiver.h"
#include "agent/component/target_maps.h"
#include "agent/profile/budget.h"
#include "agent/sample/sampler.h"
#include "agent/symbol/debuginfod.h"
#include "agent/target/series.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/size.h"

#define MIN_INTERVAL_NS ((int64_t)(100 * NS_PER_MS))
#define MAX_INTERVAL_NS ((int64_t)(3600 * NS_PER_S))

static const char *validate_rate(const void *field, struct river_arena *arena)
{
	int64_t hz = *(const int64_t *)field;

	(void)arena;
	return hz >= 1 && hz <= SAMPLER_MAX_HZ
		       ? NULL
		       : "sample_rate must be between 1 and 10000 (samples a second and CPU)";
}

static const char *validate_interval(const void *field, struct river_arena *arena)
{
	int64_t ns = *(const int64_t *)field;

	(void)arena;
	return ns >= MIN_INTERVAL_NS && ns <= MAX_INTERVAL_NS
		       ? NULL
		       : "collect_interval must be between 100ms and 1h";
}

_Static_assert(SERIES_POOL_MAX == 16384, "the sentence says it");

static const char *validate_max_series(const void *field, struct river_arena *arena)
{
	int64_t n = *(const int64_t *)field;

	(void)arena;
	return n >= 1 && n <= SERIES_POOL_MAX ? NULL : "max_series must be between 1 and 16384";
}

static const char *validate_demangle(const void *field, struct river_arena *arena)
{
	enum demangle_mode mode;

	(void)arena;
	return demangle_mode_parse(str_from(*(const char *const *)field), &mode)
		       ? NULL
		       : "demangle must be one of none, simplified, templates, full";
}

static const char *validate_memory_limit(const void *field, struct river_arena *arena)
{
	uint64_t bytes;

	(void)arena;
	return size_parse(str_from(*(const char *const *)field), &bytes) == 0 &&
			       bytes >= BUDGET_MIN_BYTES && bytes <= BUDGET_MAX_BYTES
		       ? NULL
		       : "memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"";
}

static const char *validate_debuginfod_urls(const void *field, struct river_arena *arena)
{
	const struct river_strings *urls = field;

	(void)arena;
	if (urls->n_items > DEBUGINFOD_MAX_URLS)
		return "debuginfod_urls must be 8 at most";
	for (size_t i = 0; i < urls->n_items; i++)
		if (!debuginfod_url_is_valid(urls->items[i]))
			return "debuginfod_urls must begin with http:// or https://";
	return NULL;
}

static const char *validate_debuginfod_cache_path(const void *field, struct river_arena *arena)
{
	const char *path = *(const char *const *)field;

	(void)arena;
	return path[0] == '\0' || path[0] == '/' ? NULL : "debuginfod_cache_path must begin with /";
}

static const char *validate_comm(const void *field, struct river_arena *arena)
{
	enum comm_use use;

	(void)arena;
	return comm_use_parse(*(const char *const *)field, &use)
		       ? NULL
		       : "comm must be one of none, label, stackframe, both";
}

static const char *validate_reason(const void *field, struct river_arena *arena)
{
	enum reason_use use;

	(void)arena;
	return reason_use_parse(*(const char *const *)field, &use)
		       ? NULL
		       : "off_cpu_reason must be one of frame, label, none";
}

static const char *validate_cpu_limit(const void *field, struct river_arena *arena)
{
	double limit = *(const double *)field;

	(void)arena;
	return limit >= 0 && limit <= 1000
		       ? NULL
		       : "event_cpu_limit must be 0 (none) or more: 0.01 is a hundredth of a CPU";
}

struct no_args {
	char unused;
};

static const struct river_field debug_info_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "upload", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "on_target_symbolization", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "cache_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "strip_text_section", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "queue_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "worker_num", 0),
};

static const struct river_schema debug_info_schema =
	RIVER_SCHEMA(struct no_args, "debug_info", debug_info_fields);

bool ebpf_args_have_targets(const struct ebpf_args *args)
{
	return args->targets.items != NULL;
}

bool ebpf_args_kernel(const struct ebpf_args *args)
{
	return args->collect_kernel_profile && args->kernel_frames;
}

enum demangle_mode ebpf_args_demangle(const struct ebpf_args *args)
{
	enum demangle_mode mode = DEMANGLE_SIMPLIFIED;

	(void)demangle_mode_parse(str_from(args->demangle), &mode);
	return mode;
}

struct tagging ebpf_args_tagging(const struct ebpf_args *args)
{
	struct tagging tagging = { .pid = args->pid_label,
				   .thread = args->thread_names,
				   .tier = args->hotspot_tiers };

	(void)comm_use_parse(args->comm, &tagging.comm);
	(void)reason_use_parse(args->off_cpu_reason, &tagging.reason);
	return tagging;
}

static bool is_same_list(const struct river_strings *a, const struct river_strings *b)
{
	if (a->n_items != b->n_items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

bool ebpf_args_same_names(const struct ebpf_args *a, const struct ebpf_args *b)
{
	return a->lines == b->lines && a->columns == b->columns && a->inlines == b->inlines &&
	       a->python == b->python && a->v8 == b->v8 && a->hotspot == b->hotspot &&
	       a->interpreter_frames == b->interpreter_frames &&
	       a->async_frames == b->async_frames && a->hotspot_arguments == b->hotspot_arguments &&
	       is_same_list(&a->debuginfod_urls, &b->debuginfod_urls) &&
	       strcmp(a->debuginfod_cache_path, b->debuginfod_cache_path) == 0;
}

size_t ebpf_args_memory_limit_bytes(const struct ebpf_args *args)
{
	uint64_t bytes = BUDGET_DEFAULT_BYTES;

	(void)size_parse(str_from(args->memory_limit), &bytes);
	return bytes;
}

/* There it is the share of switches that are looked at; here sums are right whatever is. So it is the share of the samples there may be. */
unsigned int ebpf_args_off_cpu_hz(const struct ebpf_args *args)
{
	double hz = args->off_cpu_threshold * SAMPLER_PROBE_HZ;

	if (args->events.off_cpu)
		return (unsigned int)args->events.off_cpu->sample_rate_hz;
	if (!(hz > 0))
		return 0;
	return hz < SAMPLER_PROBE_MIN_HZ ? SAMPLER_PROBE_MIN_HZ
	       : hz > SAMPLER_PROBE_HZ	 ? SAMPLER_PROBE_HZ
					 : (unsigned int)hz;
}

#define ARGS struct ebpf_args

static const struct river_field ebpf_fields[] = {
	RIVER_FIELD_CAPSULE_LIST(ARGS, forward_to, "forward_to", RECEIVER_CAPSULE,
				 .flags = RIVER_REQUIRED),
	TARGETS_FIELD(ARGS, targets, "targets"),
	RIVER_FIELD_STRING_MAP(ARGS, default_target, "default_target",
			       .validate = target_map_validate),
	RIVER_FIELD_BOOL(ARGS, targets_only, "targets_only", .def = "true"),
	RIVER_FIELD_BOOL(ARGS, script_names, "script_names", .def = "true"),
	RIVER_FIELD_DURATION(ARGS, collect_interval_ns, "collect_interval", .def = "15s",
			     .validate = validate_interval),
	RIVER_FIELD_INT(ARGS, sample_rate_hz, "sample_rate", .def = "97",
			.validate = validate_rate),
	/* SERIES_CAP_DEFAULT */
	RIVER_FIELD_INT(ARGS, max_series, "max_series", .def = "500",
			.validate = validate_max_series),
	RIVER_FIELD_BOOL(ARGS, collect_user_profile, "collect_user_profile", .def = "true"),
	RIVER_FIELD_BOOL(ARGS, collect_kernel_profile, "collect_kernel_profile", .def = "true"),
	RIVER_FIELD_BOOL(ARGS, kernel_frames, "kernel_frames", .def = "true"),
	RIVER_FIELD_STRING(ARGS, demangle, "demangle", .def = "simplified",
			   .validate = validate_demangle),
	RIVER_FIELD_BOOL(ARGS, lines, "lines", .def = "false"),
	RIVER_FIELD_BOOL(ARGS, columns, "columns", .def = "false"),
	RIVER_FIELD_BOOL(ARGS, inlines, "inlines", .def = "false"),
	RIVER_FIELD_BOOL(ARGS, python, "python_enabled", .def = "true"),
	RIVER_FIELD_BOOL(ARGS, v8, "v8_enabled", .def = "true"),
	RIVER_FIELD_BOOL(ARGS, hotspot, "hotspot_enabled", .def = "true"),
	RIVER_FIELD_BOOL(ARGS, interpreter_frames, "interpreter_frames", .def = "false"),
	RIVER_FIELD_BOOL(ARGS, async_frames, "async_frames", .def = "false"),
	RIVER_FIELD_BOOL(ARGS, hotspot_arguments, "hotspot_arguments", .def = "false"),
	RIVER_FIELD_STRING_LIST(ARGS, debuginfod_urls, "debuginfod_urls",
				.validate = validate_debuginfod_urls),
	RIVER_FIELD_STRING(ARGS, debuginfod_cache_path, "debuginfod_cache_path", .def = "",
			   .validate = validate_debuginfod_cache_path),
	RIVER_FIELD_STRING(ARGS, memory_limit, "memory_limit", .def = "64MiB",
			   .validate = validate_memory_limit),
	RIVER_FIELD_STRING(ARGS, comm, "comm", .def = "none", .validate = validate_comm),
	RIVER_FIELD_BOOL(ARGS, pid_label, "pid_label", .def = "false"),
	RIVER_FIELD_BOOL(ARGS, thread_names, "thread_names", .def = "false"),
	RIVER_FIELD_BOOL(ARGS, hotspot_tiers, "hotspot_tiers", .def = "false"),
	RIVER_FIELD_BLOCK(ARGS, events, "events", &events_schema),
	RIVER_FIELD_FLOAT(ARGS, event_cpu_limit, "event_cpu_limit", .def = "0.01",
			  .validate = validate_cpu_limit),
	RIVER_FIELD_FLOAT(ARGS, off_cpu_threshold, "off_cpu_threshold", .def = "0"),
	RIVER_FIELD_STRING(ARGS, off_cpu_reason, "off_cpu_reason", .def = "frame",
			   .validate = validate_reason),
	RIVER_FIELD_BOOL(ARGS, off_cpu_waker, "off_cpu_waker", .def = "false"),
	RIVER_FIELD_BOOL(ARGS, load_probe, "load_probe", .def = "false"),
	RIVER_FIELD_STRING_LIST(ARGS, probe_links, "probe_links"),
	RIVER_FIELD_STRING_LIST(ARGS, u_probe_links, "u_probe_links"),
	/* Sizes of caches and maps, and switches of unwinders, that work differently here: nothing is lost by ignoring them. */
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "pid_cache_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "build_id_cache_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "same_file_cache_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "container_id_cache_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "cache_rounds", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "symbols_map_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "pid_map_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "go_table_fallback", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "perl_enabled", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "php_enabled", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "ruby_enabled", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "dotnet_enabled", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "go_enabled", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "bpf_fs_root", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "obi_process_context_enabled", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "verbose_mode", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "lazy_mode", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "no_kernel_version_check", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "symb_cache_path", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "symb_cache_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "reporter_unsymbolized_stubs", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "verifier_log_size", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_BOOL, "drop_kernel_frames", 0),
	{ .kind = RIVER_KIND_BLOCK,
	  .name = "debug_info",
	  .flags = RIVER_IGNORED,
	  .schema = &debug_info_schema },
};

const struct river_schema ebpf_schema = RIVER_SCHEMA(ARGS, "pyroscope.ebpf", ebpf_fields);

void ebpf_args_unsupported(const struct ebpf_args *args,
			   void (*fn)(const char *argument, void *data), void *data)
{
	if (args->load_probe)
		fn("load_probe", data);
	if (args->probe_links.n_items > 0)
		fn("probe_links", data);
	if (args->u_probe_links.n_items > 0)
		fn("u_probe_links", data);
}

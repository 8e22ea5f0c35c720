/* SPDX-License-Identifier: Apache-2.0 */
/* The block `events` of pyroscope.ebpf. */
#include "agent/component/ebpf/events_args.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "agent/sample/sampler.h"
#include "agent/sample/tracepoint_name.h"

/* What a metric may be called (Prometheus' data model), and so what a server takes for the first part of a profile's type. */
static bool is_profile_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalpha((unsigned char)*c) && *c != '_' &&
		    (c == name || !isdigit((unsigned char)*c)))
			return false;
	return *name;
}

static const char *validate_tracepoint(const void *self, struct river_arena *arena)
{
	const struct tracepoint_args *a = self;
	_cleanup_buf_ struct buf why = BUF_INIT(256);
	struct tracepoint_name name;

	(void)arena;
	if (!is_profile_name(a->name))
		return "a tracepoint needs a label of letters, digits and _: its profiles are "
		       "called so";
	if (strcmp(a->name, event_type(EVENT_CPU)->profile) == 0)
		return "process_cpu is the name of CPU profiles: choose another label";
	return tracepoint_name_parse(a->event, &name, &why) == 0
		       ? NULL
		       : "event must be GROUP:NAME, for example \"syscalls:sys_enter_fsync\"";
}

static const struct tracepoint_args *tracepoint(const struct events_args *args, size_t i)
{
	return (const struct tracepoint_args *)args->tracepoints.items + i;
}

static const char *validate_tracepoints(const void *field, struct river_arena *arena)
{
	const struct events_args args = { .tracepoints = *(const struct river_blocks *)field };

	(void)arena;
	if (args.tracepoints.n_items > EVENTS_ARGS_MAX)
		return "there are more than 31 tracepoints";
	for (size_t i = 0; i < args.tracepoints.n_items; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(tracepoint(&args, i)->name, tracepoint(&args, k)->name) == 0)
				return "two tracepoints have the same label";
	return NULL;
}

_Static_assert(EVENTS_ARGS_MAX == 31, "the sentence says it");

_Static_assert(SAMPLER_PROBE_MIN_HZ == 10 && SAMPLER_MAX_HZ == 10000 && SAMPLER_PROBE_HZ == 1000,
	       "the sentence says it, the default is it");

static const char *validate_rate(const void *field, struct river_arena *arena)
{
	int64_t hz = *(const int64_t *)field;

	(void)arena;
	return hz >= SAMPLER_PROBE_MIN_HZ && hz <= SAMPLER_MAX_HZ
		       ? NULL
		       : "sample_rate of an event must be between 10 and 10000 (samples a "
			 "second and CPU, at most)";
}

static const struct river_field tracepoint_fields[] = {
	RIVER_FIELD_LABEL(struct tracepoint_args, name),
	RIVER_FIELD_STRING(struct tracepoint_args, event, "event", .flags = RIVER_REQUIRED),
	/* SAMPLER_PROBE_HZ */
	RIVER_FIELD_INT(struct tracepoint_args, sample_rate_hz, "sample_rate", .def = "1000",
			.validate = validate_rate),
};
static const struct river_schema tracepoint_schema = RIVER_SCHEMA(
	struct tracepoint_args, "tracepoint", tracepoint_fields, .validate = validate_tracepoint);

static const struct river_field off_cpu_fields[] = {
	/* SAMPLER_PROBE_HZ */
	RIVER_FIELD_INT(struct off_cpu_args, sample_rate_hz, "sample_rate", .def = "1000",
			.validate = validate_rate),
};
static const struct river_schema off_cpu_schema =
	RIVER_SCHEMA(struct off_cpu_args, "off_cpu", off_cpu_fields);

static const struct river_field plain_fields[] = {
	/* SAMPLER_PROBE_HZ */
	RIVER_FIELD_INT(struct plain_args, sample_rate_hz, "sample_rate", .def = "1000",
			.validate = validate_rate),
};
static const struct river_schema wall_schema =
	RIVER_SCHEMA(struct plain_args, "wall", plain_fields);
static const struct river_schema locks_schema =
	RIVER_SCHEMA(struct plain_args, "locks", plain_fields);
static const struct river_schema faults_schema =
	RIVER_SCHEMA(struct plain_args, "faults", plain_fields);
static const struct river_schema run_queue_schema =
	RIVER_SCHEMA(struct plain_args, "run_queue", plain_fields);
static const struct river_schema syscalls_schema =
	RIVER_SCHEMA(struct plain_args, "syscalls", plain_fields);
static const struct river_schema tcp_schema = RIVER_SCHEMA(struct plain_args, "tcp", plain_fields);
static const struct river_schema block_io_schema =
	RIVER_SCHEMA(struct plain_args, "block_io", plain_fields);
static const struct river_schema rss_schema = RIVER_SCHEMA(struct plain_args, "rss", plain_fields);

static const struct river_field events_fields[] = {
	RIVER_FIELD_BLOCK_PTR(struct events_args, off_cpu, "off_cpu", &off_cpu_schema),
	RIVER_FIELD_BLOCK_PTR(struct events_args, plain[EVENT_WALL], "wall", &wall_schema),
	RIVER_FIELD_BLOCK_PTR(struct events_args, plain[EVENT_LOCKS], "locks", &locks_schema),
	RIVER_FIELD_BLOCK_PTR(struct events_args, plain[EVENT_FAULTS], "faults", &faults_schema),
	RIVER_FIELD_BLOCK_PTR(struct events_args, plain[EVENT_RUN_QUEUE], "run_queue",
			      &run_queue_schema),
	RIVER_FIELD_BLOCK_PTR(struct events_args, plain[EVENT_SYSCALLS], "syscalls",
			      &syscalls_schema),
	RIVER_FIELD_BLOCK_PTR(struct events_args, plain[EVENT_TCP], "tcp", &tcp_schema),
	RIVER_FIELD_BLOCK_PTR(struct events_args, plain[EVENT_BLOCK_IO], "block_io",
			      &block_io_schema),
	RIVER_FIELD_BLOCK_PTR(struct events_args, plain[EVENT_RSS], "rss", &rss_schema),
	RIVER_FIELD_BLOCKS(struct events_args, tracepoints, "tracepoint", &tracepoint_schema,
			   .validate = validate_tracepoints),
};
const struct river_schema events_schema = RIVER_SCHEMA(struct events_args, "events", events_fields);

void events_args_tracepoints(const struct events_args *args,
			     struct events_tracepoints *ret_tracepoints)
{
	assert(args->tracepoints.n_items <= EVENTS_ARGS_MAX);
	ret_tracepoints->n = args->tracepoints.n_items;
	for (size_t i = 0; i < ret_tracepoints->n; i++) {
		ret_tracepoints->names[i] = tracepoint(args, i)->event;
		ret_tracepoints->hz[i] = (unsigned int)tracepoint(args, i)->sample_rate_hz;
	}
}

unsigned int events_args_hz(const struct events_args *args, enum event event)
{
	return args->plain[event] ? (unsigned int)args->plain[event]->sample_rate_hz : 0;
}

const char *events_args_profile(const struct events_args *args, uint16_t source)
{
	return source >= 1 && source <= args->tracepoints.n_items
		       ? tracepoint(args, source - 1)->name
		       : NULL;
}

bool events_args_equal(const struct events_args *a, const struct events_args *b)
{
	if (a->tracepoints.n_items != b->tracepoints.n_items)
		return false;
	for (size_t i = 0; i < a->tracepoints.n_items; i++)
		if (strcmp(tracepoint(a, i)->name, tracepoint(b, i)->name) != 0 ||
		    strcmp(tracepoint(a, i)->event, tracepoint(b, i)->event) != 0 ||
		    tracepoint(a, i)->sample_rate_hz != tracepoint(b, i)->sample_rate_hz)
			return false;
	for (enum event e = 0; e < EVENT_MAX; e++)
		if (events_args_hz(a, e) != events_args_hz(b, e))
			return false;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.ebpf: what is accepted, what it is when it is not given, what is refused. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/decode.h"

#include "agent/component/ebpf/ebpf_args.h"
#include "agent/sample/sampler.h"
#include "agent/component/receiver.h"
#include "agent/profile/series_cap.h"

static const struct river_value *lookup(void *ctx, struct river_arena *arena, const char *name)
{
	return strcmp(name, "receiver") == 0 ? river_value_capsule(arena, RECEIVER_CAPSULE, ctx)
					     : NULL;
}

static void decode_ebpf(struct decoded *d, const char *text, struct ebpf_args *ret_args)
{
	static struct receiver receiver;

	decode(d, &ebpf_schema, &(struct river_scope){ .lookup = lookup, .ctx = &receiver }, text,
	       ret_args);
}

static void test_defaults(void **state)
{
	struct ebpf_args args;
	struct decoded d;

	(void)state;
	decode_ebpf(&d, "forward_to = [receiver, null]", &args);
	assert_string_equal(buf_str(&d.messages), "");
	assert_int_equal(args.forward_to.n_items, 2);
	assert_non_null(args.forward_to.items[0]);
	assert_null(args.forward_to.items[1]);
	assert_false(ebpf_args_have_targets(&args));
	assert_true(args.targets_only);
	assert_true(args.script_names);
	assert_int_equal(args.default_target.n_items, 0);
	assert_int_equal(args.collect_interval_ns, 15000000000);
	assert_int_equal(args.sample_rate_hz, 97);
	assert_int_equal(args.max_series, SERIES_CAP_DEFAULT);
	assert_true(args.collect_user_profile);
	assert_true(ebpf_args_kernel(&args));
	assert_int_equal(ebpf_args_demangle(&args), DEMANGLE_SIMPLIFIED);
	assert_int_equal(ebpf_args_memory_limit_bytes(&args), 64 << 20);
	assert_false(args.lines);
	assert_false(args.columns);
	assert_false(args.inlines);
	assert_false(args.interpreter_frames);
	assert_false(args.async_frames);
	assert_false(args.hotspot_arguments);
	assert_int_equal(args.debuginfod_urls.n_items, 0);
	assert_string_equal(args.debuginfod_cache_path, "");
	decoded_fini(&d);
}

static void test_events(void **state)
{
	struct ebpf_args none, args, renamed, slower;
	struct events_tracepoints t;
	struct decoded d[4];

	(void)state;
	decode_ebpf(&d[0], "forward_to = []", &none);
	decode_ebpf(
		&d[1],
		"forward_to = []\nevents {\n\ttracepoint \"a\" { event = \"sched:sched_switch\" }\n"
		"\ttracepoint \"b2\" { event = \"syscalls:sys_enter_read\" }\n}",
		&args);
	decode_ebpf(
		&d[2],
		"forward_to = []\nevents {\n\ttracepoint \"a\" { event = \"sched:sched_switch\" }\n"
		"\ttracepoint \"b\" { event = \"syscalls:sys_enter_read\" }\n}",
		&renamed);
	decode_ebpf(
		&d[3],
		"forward_to = []\nevents {\n\ttracepoint \"a\" {\n event = \"sched:sched_switch\"\n"
		" sample_rate = 50\n}\n"
		"\ttracepoint \"b2\" { event = \"syscalls:sys_enter_read\" }\n}",
		&slower);
	for (size_t i = 0; i < ARRAY_SIZE(d); i++)
		assert_string_equal(buf_str(&d[i].messages), "");
	events_args_tracepoints(&none.events, &t);
	assert_int_equal(t.n, 0);
	events_args_tracepoints(&slower.events, &t);
	assert_int_equal(t.n, 2);
	assert_string_equal(t.names[0], "sched:sched_switch");
	assert_string_equal(t.names[1], "syscalls:sys_enter_read");
	assert_int_equal(t.hz[0], 50);
	assert_int_equal(t.hz[1], SAMPLER_PROBE_HZ);
	/* Source 0 is the timer. */
	assert_null(events_args_profile(&args.events, 0));
	assert_string_equal(events_args_profile(&args.events, 1), "a");
	assert_string_equal(events_args_profile(&args.events, 2), "b2");
	assert_null(events_args_profile(&args.events, 3));
	assert_true(events_args_equal(&args.events, &args.events));
	assert_false(events_args_equal(&args.events, &none.events));
	assert_false(events_args_equal(&args.events, &renamed.events));
	assert_false(events_args_equal(&args.events, &slower.events));
	for (size_t i = 0; i < ARRAY_SIZE(d); i++)
		decoded_fini(&d[i]);
}

static void test_events__refused(void **state)
{
	static const struct {
		const char *block, *said;
	} mistakes[] = {
		{ "tracepoint { event = \"a:b\" }", "label" },
		{ "tracepoint \"process_cpu\" { event = \"a:b\" }",
		  "process_cpu is the name of CPU profiles" },
		{ "tracepoint \"a\" { }", "event" },
		{ "tracepoint \"a\" {\n event = \"a:b\"\n sample_rate = 9\n}",
		  "between 10 and 10000" },
		{ "tracepoint \"a\" {\n event = \"a:b\"\n sample_rate = 10001\n}",
		  "between 10 and 10000" },
		{ "tracepoint \"a\" { event = \"a\" }", "event must be GROUP:NAME" },
		{ "tracepoint \"a\" { event = \"../x:y\" }", "event must be GROUP:NAME" },
		{ "tracepoint \"a\" { event = \"a:b\" }\ntracepoint \"a\" { event = \"a:c\" }",
		  "two tracepoints have the same label" },
		{ "uprobe \"a\" { }", "uprobe" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);
		struct ebpf_args args;
		struct decoded d;

		(void)buf_printf(&text, "forward_to = []\nevents {\n%s\n}", mistakes[i].block);
		decode_ebpf(&d, buf_str(&text), &args);
		if (!strstr(buf_str(&d.messages), mistakes[i].said))
			fail_msg("%s: %s", mistakes[i].block, buf_str(&d.messages));
		decoded_fini(&d);
	}
}

static void test_names(void **state)
{
	static const char *const texts[] = {
		"lines = true",
		"inlines = true",
		"columns = true",
		"debuginfod_urls = [\"http://a\"]",
		"debuginfod_urls = [\"http://b\"]",
		"debuginfod_urls = [\"http://a\", \"https://b:8002/x\"]",
		"debuginfod_cache_path = \"/var/cache/x\"",
		"python_enabled = false",
		"interpreter_frames = true",
		"async_frames = true",
		"hotspot_arguments = true",
	};
	struct ebpf_args args[ARRAY_SIZE(texts)];
	struct decoded d[ARRAY_SIZE(texts)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);

		(void)buf_printf(&text, "forward_to = []\n%s", texts[i]);
		decode_ebpf(&d[i], buf_str(&text), &args[i]);
		assert_string_equal(buf_str(&d[i].messages), "");
	}
	assert_true(args[0].lines);
	assert_true(args[1].inlines);
	assert_true(args[2].columns);
	assert_true(args[8].interpreter_frames);
	assert_true(args[9].async_frames);
	assert_true(args[10].hotspot_arguments);
	assert_string_equal(args[5].debuginfod_urls.items[1], "https://b:8002/x");
	/* Each is another way to name frames, which takes a new session. */
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
			assert_int_equal(ebpf_args_same_names(&args[i], &args[k]), i == k);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		decoded_fini(&d[i]);
}

static void test_targets(void **state)
{
	static const struct {
		const char *text;
		bool have;
		size_t n;
	} rows[] = {
		{ "forward_to = []", false, 0 },
		{ "forward_to = []\ntargets = []", true, 0 },
		{ "forward_to = []\ntargets = null", true, 0 },
		{ "forward_to = []\ntargets = [{\"__process_pid__\" = \"1\"}, {}]", true, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ebpf_args args;
		struct decoded d;

		decode_ebpf(&d, rows[i].text, &args);
		assert_int_equal(d.result, RIVER_OK);
		assert_int_equal(ebpf_args_have_targets(&args), rows[i].have);
		assert_int_equal(args.targets.n_items, rows[i].n);
		decoded_fini(&d);
	}
}

static void test_memory_limit(void **state)
{
	static const struct {
		const char *text;
		size_t bytes;
	} rows[] = {
		{ "8MiB", 8 << 20 },	     { "8388608", 8 << 20 }, { "100MB", 100000000 },
		{ "64 mib", 64 << 20 },	     { "65536K", 64 << 20 }, { "1g", (size_t)1 << 30 },
		{ "2GiB", (size_t)2 << 30 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);
		struct ebpf_args args;
		struct decoded d;

		(void)buf_printf(&text, "forward_to = []\nmemory_limit = \"%s\"", rows[i].text);
		decode_ebpf(&d, buf_str(&text), &args);
		assert_string_equal(buf_str(&d.messages), "");
		assert_int_equal(ebpf_args_memory_limit_bytes(&args), rows[i].bytes);
		decoded_fini(&d);
	}
}

static void test_kernel_frames(void **state)
{
	struct ebpf_args args;
	struct decoded d;

	(void)state;
	decode_ebpf(&d, "forward_to = []\nkernel_frames = false", &args);
	assert_false(ebpf_args_kernel(&args));
	decoded_fini(&d);
	decode_ebpf(&d, "forward_to = []\ncollect_kernel_profile = false", &args);
	assert_false(ebpf_args_kernel(&args));
	decoded_fini(&d);
}

static void test_tagging(void **state)
{
	static const struct {
		const char *text;
		struct tagging tagging;
	} rows[] = {
		{ "", { COMM_NONE, false, REASON_FRAME, false, false } },
		{ "comm = \"\"", { COMM_NONE, false, REASON_FRAME, false, false } },
		{ "comm = \"label\"", { COMM_LABEL, false, REASON_FRAME, false, false } },
		{ "comm = \"stackframe\"", { COMM_STACKFRAME, false, REASON_FRAME, false, false } },
		{ "comm = \"both\"\npid_label = true",
		  { COMM_BOTH, true, REASON_FRAME, false, false } },
		{ "pid_label = true", { COMM_NONE, true, REASON_FRAME, false, false } },
		{ "off_cpu_reason = \"label\"", { COMM_NONE, false, REASON_LABEL, false, false } },
		{ "off_cpu_reason = \"none\"", { COMM_NONE, false, REASON_NONE, false, false } },
		{ "thread_names = true", { COMM_NONE, false, REASON_FRAME, true, false } },
		{ "hotspot_tiers = true", { COMM_NONE, false, REASON_FRAME, false, true } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);
		struct ebpf_args args;
		struct decoded d;

		(void)buf_printf(&text, "forward_to = []\n%s", rows[i].text);
		decode_ebpf(&d, buf_str(&text), &args);
		assert_string_equal(buf_str(&d.messages), "");
		assert_int_equal(ebpf_args_tagging(&args).comm, rows[i].tagging.comm);
		assert_int_equal(ebpf_args_tagging(&args).pid, rows[i].tagging.pid);
		assert_int_equal(ebpf_args_tagging(&args).reason, rows[i].tagging.reason);
		assert_int_equal(ebpf_args_tagging(&args).thread, rows[i].tagging.thread);
		assert_int_equal(ebpf_args_tagging(&args).tier, rows[i].tagging.tier);
		decoded_fini(&d);
	}
}

static void put_argument(const char *argument, void *data)
{
	(void)buf_printf(data, "%s ", argument);
}

static void test_unsupported(void **state)
{
	_cleanup_buf_ struct buf names = BUF_INIT(4096);
	struct ebpf_args args;
	struct decoded d;

	(void)state;
	decode_ebpf(&d, "forward_to = []\ncomm = \"none\"\noff_cpu_threshold = 0", &args);
	ebpf_args_unsupported(&args, put_argument, &names);
	assert_string_equal(buf_str(&names), "");
	decoded_fini(&d);
	decode_ebpf(&d,
		    "forward_to = []\ncomm = \"label\"\npid_label = true\noff_cpu_threshold = "
		    "0.5\nload_probe = true\n"
		    "probe_links = [\"kprobe:a\"]\nu_probe_links = [\"b\"]",
		    &args);
	ebpf_args_unsupported(&args, put_argument, &names);
	assert_string_equal(buf_str(&names), "load_probe probe_links u_probe_links ");
	decoded_fini(&d);
}

static void assert_off_cpu_hz(const char *text, unsigned int hz)
{
	struct ebpf_args args;
	struct decoded d;

	decode_ebpf(&d, text, &args);
	assert_int_equal(ebpf_args_off_cpu_hz(&args), hz);
	decoded_fini(&d);
}

static void test_off_cpu(void **state)
{
	(void)state;
	assert_off_cpu_hz("forward_to = []", 0);
	assert_off_cpu_hz("forward_to = []\noff_cpu_threshold = 0", 0);
	assert_off_cpu_hz("forward_to = []\noff_cpu_threshold = -1", 0);
	assert_off_cpu_hz("forward_to = []\noff_cpu_threshold = 0.0001", 10);
	assert_off_cpu_hz("forward_to = []\noff_cpu_threshold = 0.25", 250);
	assert_off_cpu_hz("forward_to = []\noff_cpu_threshold = 1e300", 1000);
	assert_off_cpu_hz("forward_to = []\nevents {\n off_cpu {}\n}", 1000);
	assert_off_cpu_hz("forward_to = []\noff_cpu_threshold = 1\nevents {\n off_cpu {\n "
			  "sample_rate = 20\n}\n}",
			  20);
}

/* Each argument that any release knows, alone. */
static const struct accepted {
	const char *text;
} accepted[] = {
	{ "targets = []" },
	{ "memory_limit = \"64MiB\"" },
	/* As in every argument that is a string. */
	{ "memory_limit = 67108864" },
	{ "collect_interval = \"15s\"" },
	{ "collect_interval = \"100ms\"" },
	{ "collect_interval = \"1h\"" },
	{ "sample_rate = 1" },
	{ "sample_rate = 10000" },
	{ "max_series = 1" },
	{ "max_series = 16384" },
	{ "pid_cache_size = 32" },
	{ "build_id_cache_size = 64" },
	{ "same_file_cache_size = 8" },
	{ "container_id_cache_size = 1024" },
	{ "cache_rounds = 3" },
	{ "collect_user_profile = false" },
	{ "collect_kernel_profile = false" },
	{ "demangle = \"none\"" },
	{ "demangle = \"simplified\"" },
	{ "demangle = \"templates\"" },
	{ "demangle = \"full\"" },
	{ "go_table_fallback = true" },
	{ "python_enabled = false" },
	{ "v8_enabled = false" },
	{ "hotspot_enabled = false" },
	{ "symbols_map_size = 2048" },
	{ "pid_map_size = 16384" },
	{ "perl_enabled = true" },
	{ "php_enabled = true" },
	{ "hotspot_enabled = true" },
	{ "ruby_enabled = true" },
	{ "dotnet_enabled = true" },
	{ "go_enabled = true" },
	{ "off_cpu_threshold = 0.25" },
	{ "events {\n locks {}\n}" },
	{ "events {\n faults {}\n}" },
	{ "events {\n run_queue {}\n}" },
	{ "events {\n syscalls {}\n}" },
	{ "events {\n tcp {}\n}" },
	{ "events {\n block_io {}\n}" },
	{ "events {\n rss {}\n}" },
	{ "events {\n wall {}\n}" },
	{ "event_cpu_limit = 0.05" },
	{ "event_cpu_limit = 0" },
	{ "events {\n locks {\n sample_rate = 10\n }\n off_cpu {}\n}" },
	{ "off_cpu_reason = \"frame\"" },
	{ "off_cpu_reason = \"label\"" },
	{ "off_cpu_reason = \"none\"" },
	{ "off_cpu_waker = true" },
	{ "load_probe = true" },
	{ "probe_links = [\"kprobe:do_exit\"]" },
	{ "u_probe_links = [\"/bin/a:b\"]" },
	{ "bpf_fs_root = \"/sys/fs/bpf/\"" },
	{ "obi_process_context_enabled = true" },
	{ "comm = \"\"" },
	{ "comm = \"none\"" },
	{ "comm = \"label\"" },
	{ "comm = \"stackframe\"" },
	{ "comm = \"both\"" },
	{ "pid_label = true" },
	{ "kernel_frames = false" },
	{ "verbose_mode = true" },
	{ "lazy_mode = true" },
	{ "no_kernel_version_check = true" },
	{ "targets_only = false" },
	{ "script_names = false" },
	{ "default_target = {\"service_name\" = \"a\"}" },
	{ "symb_cache_path = \"/tmp\"" },
	{ "symb_cache_size = 2048" },
	{ "reporter_unsymbolized_stubs = true" },
	{ "debug_info { }" },
	{ "debug_info { upload = false }" },
	{ "debug_info { on_target_symbolization = true }" },
	{ "debug_info { cache_size = 262144 }" },
	{ "debug_info { strip_text_section = false }" },
	{ "debug_info { queue_size = 256 }" },
	{ "debug_info { worker_num = 16 }" },
	{ "verifier_log_size = 1" },
	{ "drop_kernel_frames = true" },
};

static void test_accepted(void **state)
{
	const struct accepted *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct ebpf_args args;
	struct decoded d;

	(void)buf_printf(&text, "forward_to = [receiver]\n%s\n", row->text);
	decode_ebpf(&d, buf_str(&text), &args);
	assert_string_equal(buf_str(&d.messages), "");
	assert_int_equal(d.result, RIVER_OK);
	decoded_fini(&d);
}

static const struct refused {
	const char *name, *text, *expected;
} refused[] = {
	{ "rate 0", "sample_rate = 0",
	  "a:2:1: sample_rate must be between 1 and 10000 (samples a second and CPU)\n" },
	{ "rate below 0", "sample_rate = -1",
	  "a:2:1: sample_rate must be between 1 and 10000 (samples a second and CPU)\n" },
	{ "no series", "max_series = 0", "a:2:1: max_series must be between 1 and 16384\n" },
	{ "series below 0", "max_series = -1", "a:2:1: max_series must be between 1 and 16384\n" },
	{ "too many series", "max_series = 16385",
	  "a:2:1: max_series must be between 1 and 16384\n" },
	{ "rate too high", "sample_rate = 10001",
	  "a:2:1: sample_rate must be between 1 and 10000 (samples a second and CPU)\n" },
	{ "debuginfod without a scheme", "debuginfod_urls = [\"debuginfod.debian.net\"]",
	  "a:2:1: debuginfod_urls must begin with http:// or https://\n" },
	{ "debuginfod, nine",
	  "debuginfod_urls = [\"http://1\", \"http://2\", \"http://3\", \"http://4\", "
	  "\"http://5\", \"http://6\", \"http://7\", \"http://8\", \"http://9\"]",
	  "a:2:1: debuginfod_urls must be 8 at most\n" },
	{ "debuginfod's cache", "debuginfod_cache_path = \"cache\"",
	  "a:2:1: debuginfod_cache_path must begin with /\n" },
	{ "demangle", "demangle = \"simple\"",
	  "a:2:1: demangle must be one of none, simplified, templates, full\n" },
	{ "interval too short", "collect_interval = \"99ms\"",
	  "a:2:1: collect_interval must be between 100ms and 1h\n" },
	{ "interval too long", "collect_interval = \"61m\"",
	  "a:2:1: collect_interval must be between 100ms and 1h\n" },
	{ "interval is none", "collect_interval = \"often\"", NULL },
	{ "limit too small", "memory_limit = \"8191KiB\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit too large", "memory_limit = \"2147483649\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit beyond 64 bits", "memory_limit = \"99999999999GiB\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit 0", "memory_limit = \"0\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit below 0", "memory_limit = \"-64MiB\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit of a part", "memory_limit = \"1.5GiB\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit of an unknown unit", "memory_limit = \"64Mi\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit is a word", "memory_limit = \"much\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit is nothing", "memory_limit = \"\"",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit is a small number", "memory_limit = 64",
	  "a:2:1: memory_limit must be between 8MiB and 2GiB, for example \"64MiB\"\n" },
	{ "limit is a truth", "memory_limit = true", "a:2:16: true should be string, got bool\n" },
	{ "comm", "comm = \"yes\"", "a:2:1: comm must be one of none, label, stackframe, both\n" },
	{ "reason", "off_cpu_reason = \"both\"",
	  "a:2:1: off_cpu_reason must be one of frame, label, none\n" },
	{ "cpu limit", "event_cpu_limit = -0.1",
	  "a:2:1: event_cpu_limit must be 0 (none) or more: 0.01 is a hundredth of a CPU\n" },
	{ "a receiver of something else", "forward_to = [1]", NULL },
	{ "ignored, and of the wrong type", "pid_cache_size = \"big\"", NULL },
	{ "inside of a block", "debug_info { uplod = true }",
	  "a:2:14: unrecognized attribute name \"uplod\"\n" },
};

static void test_refused(void **state)
{
	const struct refused *row = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct ebpf_args args;
	struct decoded d;

	(void)buf_printf(&text, "%s\n%s\n",
			 strncmp(row->text, "forward_to", 10) ? "forward_to = []" : "", row->text);
	decode_ebpf(&d, buf_str(&text), &args);
	assert_int_equal(d.result, RIVER_INVALID);
	if (row->expected)
		assert_string_equal(buf_str(&d.messages), row->expected);
	assert_true(strncmp(buf_str(&d.messages), "a:2:", 4) == 0);
	decoded_fini(&d);
}

/* 512 labels of a target, and one more. */
static void test_limit_of_labels(void **state)
{
	(void)state;
	for (int n = 512; n <= 513; n++) {
		_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 16);
		struct ebpf_args args;
		struct decoded d;

		(void)buf_append_str(&text, "forward_to = []\ntargets = [{\n");
		for (int i = 0; i < n; i++)
			(void)buf_printf(&text, "l%d = \"v\",\n", i);
		(void)buf_append_str(&text, "}]\n");
		decode_ebpf(&d, buf_str(&text), &args);
		assert_string_equal(buf_str(&d.messages),
				    n > 512 ? "a:2:1: a target has more than 512 labels\n" : "");
		decoded_fini(&d);
	}
}

/* Of wall-clock time the rate is that of waits; it is no event of the kernel half. */
static void test_wall(void **state)
{
	struct ebpf_args args;
	struct decoded d;

	(void)state;
	decode_ebpf(&d, "forward_to = []", &args);
	assert_int_equal(events_args_hz(&args.events, EVENT_WALL), 0);
	assert_true(args.event_cpu_limit > 0.0099 && args.event_cpu_limit < 0.0101);
	decoded_fini(&d);
	decode_ebpf(&d, "forward_to = []\nevents {\n wall {\n sample_rate = 50\n }\n}", &args);
	assert_int_equal(events_args_hz(&args.events, EVENT_WALL), 50);
	assert_int_equal(ebpf_args_off_cpu_hz(&args), 0);
	assert_true(event_is_derived(EVENT_WALL) && !event_is_plain(EVENT_WALL));
	decoded_fini(&d);
}

static const struct unit_test tests[] = {
	TEST(test_defaults),
	TEST(test_wall),
	TEST(test_targets),
	TEST(test_kernel_frames),
	TEST(test_tagging),
	TEST(test_unsupported),
	TEST(test_off_cpu),
	TEST(test_limit_of_labels),
	TEST(test_memory_limit),
	TEST(test_names),
	TEST(test_events),
	TEST(test_events__refused),
	TEST_ROWS(test_accepted, accepted, text),
	TEST_ROWS(test_refused, refused, name),
};

TEST_MAIN(tests)

/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves the agent: folded text, the table, profiles, and how a large series is split. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include <sys/mman.h>

#include "agent/util/clock.h"
#include "agent/profile/top_table.h"
#include "tests/support/pprof_check.h"

#define PLAIN_MAX_BYTES ((size_t)16 << 20)

/* A web server with a deep stack, a database in a file without symbols. */
static void fill(struct context *w)
{
	const uint64_t kernel[] = { FN(0), FN(1) };
	const struct frame_ref cut[] = { jit_frame(w->interval), UNKNOWN, REASON(STACK_READ) };
	uint32_t id = context_add_file(w, "/usr/bin/prog", 77);
	const struct frame_ref prog[] = { frame_ref_of_file(id, 0x1234) };
	const struct frame_ref gone[] = { frame_ref_of_file(9999, 0x10) };
	const uint64_t kernel_only[] = { FN(0) };

	context_add(w, w->web, kernel, 2, cut, 3, 2);
	context_add(w, w->web, kernel_only, 1, gone, 1, 5);
	context_add(w, w->db, NO_FRAMES, 0, prog, 1, 1);
}

static char *text_of(const struct build *b)
{
	assert_non_null(b->first);
	assert_null(b->first->next);
	assert_null(b->first->profile);
	char *text = strndup((const char *)b->first->bytes, b->first->n_bytes);
	assert_non_null(text);
	return text;
}

static void test_folded(void **state)
{
	struct context *w = *state;
	_cleanup_free_ char *text = NULL;
	struct build b;

	fill(w);
	build_init(&b);
	build_folded(w->interval, w->namer, &b);
	text = text_of(&b);
	assert_string_equal(text,
			    "db;prog+0x1234 1\n"
			    "web;[truncated: stack not readable];[unknown];[jit];fn001;fn000 2\n"
			    "web;[unknown];fn000 5\n");
	assert_int_equal(b.summary.n_samples, 8);
	assert_int_equal(b.summary.n_failed, 0);
	assert_int_equal(b.first->n_samples, 8);
	build_fini(&b);
}

/* Two addresses of a function are two stacks, but one line. */
static void test_folded_merges_lines(void **state)
{
	struct context *w = *state;
	const uint64_t a[] = { FN(3) }, b[] = { FN(3) + 8 };
	_cleanup_free_ char *text = NULL;
	struct build build;

	context_add(w, w->web, a, 1, NO_FRAMES, 0, 1);
	context_add(w, w->web, b, 1, NO_FRAMES, 0, 2);
	build_init(&build);
	build_folded(w->interval, w->namer, &build);
	text = text_of(&build);
	assert_string_equal(text, "web;fn003 3\n");
	build_fini(&build);
}

/* What separates things in the format cannot be in a name. */
static void test_folded_names_are_cleaned(void **state)
{
	struct context *w = *state;
	_cleanup_(labels_unrefp) struct labels *odd = make_service("a;b\nc d");
	const uint64_t a[] = { FN(3) };
	_cleanup_free_ char *text = NULL;
	struct build build;

	context_add(w, odd, a, 1, NO_FRAMES, 0, 1);
	build_init(&build);
	build_folded(w->interval, w->namer, &build);
	text = text_of(&build);
	assert_string_equal(text, "a:b:c d;fn003 1\n");
	build_fini(&build);
}

static void test_every_reason_has_its_frame(void **state)
{
	static const char *const frames[STOP_REASON_MAX] = {
#define REASON_FRAME(name, complete, frame, text) [STOP_REASON_##name] = frame,
		STOP_REASONS(REASON_FRAME)
#undef REASON_FRAME
	};
	struct context *w = *state;
	_cleanup_free_ char *text = NULL;
	struct build b;

	for (uint64_t end = 0; end < STOP_REASON_MAX; end++) {
		const struct frame_ref user[] = { jit_frame(w->interval),
						  frame_ref_of(FRAME_KIND_END, end) };

		if (*frames[end])
			context_add(w, w->web, NO_FRAMES, 0, user, 2, 1);
	}
	build_init(&b);
	build_folded(w->interval, w->namer, &b);
	text = text_of(&b);
	for (unsigned int end = 0; end < STOP_REASON_MAX; end++) {
		char line[128];

		(void)snprintf(line, sizeof(line), "web;%s;[jit] 1\n", frames[end]);
		assert_int_equal(strstr(text, line) != NULL, *frames[end] != '\0');
	}
	build_fini(&b);
}

/* One series, one address, two processes: each function has its own name. */
static void test_generated_code(void **state)
{
	static const char text_a[] = "1000 10 of_a\n", text_b[] = "1000 10 of_b\n";
	struct jit_files a = { .n_refs = 1, .dump_fd = -1, .map = { 1, 1 } }, b = a;
	const struct anon_place places[] = { { .jit = &a, .pc = 0x1008 },
					     { .jit = &b, .pc = 0x1008 },
					     { .memory = "[heap]" } };
	struct context *w = *state;
	_cleanup_free_ char *text = NULL;
	struct build built;

	b.map.inode = 2;
	a.map_fd = memfd_create("a", MFD_CLOEXEC);
	b.map_fd = memfd_create("b", MFD_CLOEXEC);
	assert_int_equal(write(a.map_fd, text_a, strlen(text_a)), strlen(text_a));
	assert_int_equal(write(b.map_fd, text_b, strlen(text_b)), strlen(text_b));
	for (unsigned int i = 0; i < 3; i++) {
		struct frame_ref frame = FRAME_REF_NONE;

		assert_int_equal(interval_anon_frame(w->interval, &places[i], &frame), 0);
		context_add(w, w->web, NO_FRAMES, 0, &frame, 1, i + 1);
	}
	build_init(&built);
	build_folded(w->interval, w->namer, &built);
	text = text_of(&built);
	assert_non_null(strstr(text, "web;of_a 1\n"));
	assert_non_null(strstr(text, "web;of_b 2\n"));
	assert_non_null(strstr(text, "web;[heap] 3\n"));
	build_fini(&built);
	(void)close(a.map_fd);
	(void)close(b.map_fd);
	interval_free(TAKE_PTR(w->interval));
	assert_int_equal(a.n_refs + b.n_refs, 2);
}

/* Kinds that an interval does not have, and values that their kind does not have. */
static void test_frames_that_nobody_knows(void **state)
{
	struct context *w = *state;
	const struct frame_ref user[] = {
		FRAME_REF_NONE,
		frame_ref_of_file(0, 0x10),
		frame_ref_of(FRAME_KIND_MEMORY, 0x1008),
		frame_ref_of(FRAME_KIND_PLACE, 0),
		frame_ref_of(FRAME_KIND_PLACE, FRAME_REF_VALUE_MASK),
		frame_ref_of(FRAME_KIND_END, STOP_REASON_MAX),
		frame_ref_of(FRAME_KIND_END, FRAME_REF_VALUE_MASK),
		frame_ref_of(FRAME_KIND_MAX, 0),
		(struct frame_ref){ UINT64_MAX },
	};
	_cleanup_free_ char *text = NULL;
	struct build b;

	for (size_t i = 0; i < ARRAY_SIZE(user); i++)
		context_add(w, w->web, NO_FRAMES, 0, &user[i], 1, 1);
	build_init(&b);
	build_folded(w->interval, w->namer, &b);
	text = text_of(&b);
	assert_string_equal(text, "web;[unknown] 9\n");
	build_fini(&b);
}

/* Nothing was sampled: an empty text, not an absent one. */
static void test_folded_empty(void **state)
{
	struct context *w = *state;
	struct build b;

	build_init(&b);
	build_folded(w->interval, w->namer, &b);
	assert_non_null(b.first);
	assert_int_equal(b.first->n_bytes, 0);
	build_fini(&b);
	assert_null(b.first);
}

static void test_hidden_kernel_is_one_frame(void **state)
{
	struct context *w = *state;
	const uint64_t kernel[] = { FN(0), FN(1), FN(2) };
	const struct frame_ref user[] = { jit_frame(w->interval) };
	_cleanup_free_ char *text = NULL;
	struct build b;

	context_add(w, w->web, kernel, 3, user, 1, 4);
	build_init(&b);
	build_folded(w->interval, w->namer, &b);
	text = text_of(&b);
	assert_string_equal(text, "web;[jit];[kernel] 4\n");
	build_fini(&b);
}

static void test_table(void **state)
{
	struct context *w = *state;
	_cleanup_free_ char *text = NULL;
	struct build b;

	fill(w);
	build_init(&b);
	build_table(w->interval, w->namer, &b);
	text = text_of(&b);
	assert_string_equal(
		text, "   SELF   TOTAL  SAMPLES  FUNCTION (OBJECT)\n"
		      " 87.50%  87.50%        7  fn000  ([kernel])\n"
		      " 12.50%  12.50%        1  prog+0x1234  (prog)\n"
		      "  0.00%  87.50%        0  [unknown]  ([unknown])\n"
		      "  0.00%  25.00%        0  [jit]  ([anon])\n"
		      "  0.00%  25.00%        0  [truncated: stack not readable]  ([unknown])\n"
		      "  0.00%  25.00%        0  fn001  ([kernel])\n");
	assert_int_equal(b.summary.n_samples, 8);
	build_fini(&b);
}

static void test_long_table_is_cut(void **state)
{
	struct context *w = *state;
	_cleanup_free_ char *text = NULL;
	struct build b;
	size_t n_lines = 0;

	for (unsigned int i = 0; i < 100; i++)
		context_add(w, w->web, (const uint64_t[]){ FN(i) }, 1, NO_FRAMES, 0, 1);
	build_init(&b);
	build_table(w->interval, w->namer, &b);
	text = text_of(&b);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n_lines++;
	assert_int_equal(n_lines, 42);
	assert_non_null(strstr(text, "… and 60 more functions\n"));
	build_fini(&b);
}

static void test_summary(void **state)
{
	struct context *w = *state;
	struct build b;

	fill(w);
	build_init(&b);
	build_summarize(w->interval, w->namer, &b);
	assert_int_equal(b.summary.n_series, 2);
	assert_string_equal(b.summary.hottest_service, "web");
	assert_int_equal(b.summary.hottest_service_samples, 7);
	assert_string_equal(b.summary.hottest_function, "fn000");
	build_fini(&b);
	interval_free(TAKE_PTR(w->interval));
	assert_int_equal(interval_new(PERIOD_NS, 1 << 20, &w->interval), 0);
	build_summarize(w->interval, w->namer, &b);
	assert_int_equal(b.summary.n_series, 0);
	assert_string_equal(b.summary.hottest_service, "");
	assert_string_equal(b.summary.hottest_function, "");
}

/* Of a profile, or of a file. */
static struct pprof_bytes bytes_of(const struct built *x)
{
	if (!x->profile)
		return (struct pprof_bytes){ x->bytes, x->n_bytes };
	assert_int_equal(x->profile->n_samples, x->n_samples - x->n_again);
	assert_int_equal(x->profile->time_ns, x->time_ns);
	assert_int_equal(profile_make(x->profile, FORM_PPROF), 0);
	const struct shared_bytes *bytes = profile_form(x->profile, FORM_PPROF);
	return (struct pprof_bytes){ (uint8_t *)bytes->data, bytes->n };
}

static Perftools__Profiles__Profile *unpack(const struct built *x, struct pprof_facts *ret_facts)
{
	const struct pprof_bytes gz = bytes_of(x);
	struct pprof_bytes plain = { 0 };

	assert_int_equal(pprof_gunzip(&gz, PLAIN_MAX_BYTES, &plain), 0);
	assert_null(pprof_check_plain(&plain, ret_facts));
	Perftools__Profiles__Profile *p =
		perftools__profiles__profile__unpack(NULL, plain.n, plain.data);
	assert_non_null(p);
	pprof_bytes_fini(&plain);
	return p;
}

static void drop_profile(Perftools__Profiles__Profile **p)
{
	perftools__profiles__profile__free_unpacked(*p, NULL);
}

#define _cleanup_profile_ _cleanup_(drop_profile)

static const char *function_at(const Perftools__Profiles__Profile *p,
			       const Perftools__Profiles__Sample *s, size_t i)
{
	const Perftools__Profiles__Location *l = p->location[s->location_id[i] - 1];

	return p->string_table[p->function[l->line[0]->function_id - 1]->name];
}

static void test_pprof(void **state)
{
	struct context *w = *state;
	struct pprof_facts facts;
	struct build b;
	uint64_t n_samples = 0;
	size_t n = 0;

	fill(w);
	build_init(&b);
	build_profiles(w->interval, w->namer, &b);
	for (const struct built *x = b.first; x; x = x->next, n++) {
		_cleanup_profile_ Perftools__Profiles__Profile *p = unpack(x, &facts);

		assert_true(x->profile->labels == w->web || x->profile->labels == w->db);
		assert_int_equal(x->n_samples, x->profile->labels == w->web ? 7 : 1);
		assert_int_equal(facts.totals[0], x->n_samples * PERIOD_NS);
		assert_int_equal(p->period, PERIOD_NS);
		assert_int_equal(p->time_nanos, END_REAL_NS);
		assert_int_equal(x->time_ns, END_REAL_NS);
		assert_int_equal(p->duration_nanos, 5000000000);
		n_samples += x->n_samples;
	}
	assert_int_equal(n, 2);
	assert_int_equal(n_samples, 8);
	assert_int_equal(b.summary.n_samples, 8);
	assert_int_equal(b.summary.n_failed, 0);
	build_fini(&b);
}

static const char *string_of(const Perftools__Profiles__Profile *p, int64_t i)
{
	return p->string_table[i];
}

static void assert_type(const Perftools__Profiles__Profile *p, const char *type, const char *unit,
			const char *period)
{
	assert_string_equal(string_of(p, p->period_type->type), period);
	assert_int_equal(p->n_sample_type, 1);
	assert_string_equal(string_of(p, p->sample_type[0]->type), type);
	assert_string_equal(string_of(p, p->sample_type[0]->unit), unit);
	assert_string_equal(string_of(p, p->period_type->unit), unit);
}

static void add_tracepoint(struct context *w, int64_t value)
{
	const struct frame_ref frame = kernel_frame(FN(1));
	const struct samples one = { .labels = w->web,
				     .event = EVENT_TRACEPOINT,
				     .source = 3,
				     .values = &value,
				     .frames = &frame,
				     .n_kernel = 1,
				     .count = 1 };
	bool is_new;

	assert_int_equal(interval_add(w->interval, &one, &is_new), 0);
}

static const struct heading_row {
	const char *name;
	enum event event;
	int64_t value;
	const char *text;
} heading_rows[] = { { "seconds", EVENT_OFF_CPU, 1234567890,
		       "   SELF   TOTAL  SECONDS  FUNCTION (OBJECT)\n"
		       "100.00% 100.00%    1.235  fn001  ([kernel])\n" },
		     { "hits", EVENT_TRACEPOINT, 12,
		       "   SELF   TOTAL     HITS  FUNCTION (OBJECT)\n"
		       "100.00% 100.00%       12  fn001  ([kernel])\n" } };

/* What a table sums up is its heading, and in units that a person reads. */
static void test_headings_of_tables(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(heading_rows); i++) {
		const struct heading_row *row = &heading_rows[i];
		const int64_t values[EVENT_MAX_VALUES] = { row->value };
		const struct frame_ref frame = kernel_frame(FN(1));
		_cleanup_free_ char *text = NULL;
		void *context = NULL;
		struct build b;
		bool is_new;

		assert_int_equal(context_setup(&context), 0);
		struct context *w = context;
		const struct samples one = { .labels = w->web,
					     .event = row->event,
					     .source = 3,
					     .values = values,
					     .frames = &frame,
					     .n_kernel = 1,
					     .count = 1 };
		assert_int_equal(interval_add(w->interval, &one, &is_new), 0);
		build_init(&b);
		build_table(w->interval, w->namer, &b);
		text = text_of(&b);
		assert_string_equal(text, row->text);
		build_fini(&b);
		context_teardown(&context);
	}
	(void)state;
}

/* Each event has a profile of its own type; a file of several is several. */
static void check_events(struct context *w, build_fn fn)
{
	struct pprof_facts facts;
	struct build b;
	bool seen[EVENT_MAX] = { false };

	build_init(&b);
	fn(w->interval, w->namer, &b);
	for (const struct built *x = b.first; x; x = x->next) {
		_cleanup_profile_ Perftools__Profiles__Profile *p = unpack(x, &facts);
		bool is_cpu = x->event == EVENT_CPU;

		assert_type(p, is_cpu ? "cpu" : "events", is_cpu ? "nanoseconds" : "count",
			    is_cpu ? "cpu" : "tracepoint");
		assert_int_equal(facts.totals[0], is_cpu ? 2 * PERIOD_NS : 7);
		assert_int_equal(p->period, is_cpu ? PERIOD_NS : 1);
		assert_int_equal(x->n_samples, 2);
		assert_int_equal(x->source, is_cpu ? 0 : 3);
		assert_false(seen[x->event]);
		seen[x->event] = true;
	}
	assert_true(seen[EVENT_CPU] && seen[EVENT_TRACEPOINT]);
	assert_int_equal(b.summary.n_samples, 4);
	build_fini(&b);
}

static void test_pprof_events(void **state)
{
	struct context *w = *state;

	add_tracepoint(w, 3);
	add_tracepoint(w, 4);
	context_add(w, w->web, (const uint64_t[]){ FN(1) }, 1, NO_FRAMES, 0, 2);
	check_events(w, build_profiles);
	check_events(w, build_one_pprof);
}

/* A table of each event. */
static void test_tables(void **state)
{
	struct context *w = *state;
	struct build b;

	add_tracepoint(w, 3);
	context_add(w, w->web, (const uint64_t[]){ FN(1) }, 1, NO_FRAMES, 0, 2);
	build_init(&b);
	build_table(w->interval, w->namer, &b);
	assert_int_equal(b.first->event, EVENT_CPU);
	assert_int_equal(b.first->n_samples, 2);
	assert_non_null(strstr((const char *)b.first->bytes, "SAMPLES"));
	assert_int_equal(b.first->next->event, EVENT_TRACEPOINT);
	assert_int_equal(b.first->next->n_samples, 1);
	assert_non_null(strstr((const char *)b.first->next->bytes, "HITS"));
	assert_null(b.first->next->next);
	assert_int_equal(b.summary.n_samples, 3);
	build_fini(&b);
}

/* Samples of two events are not compared: the hottest is of CPU time, where there is some. */
static void test_summary_of_events(void **state)
{
	struct context *w = *state;

	for (int i = 0; i < 2; i++) {
		struct build b;

		add_tracepoint(w, 3);
		add_tracepoint(w, 4);
		if (i == 1)
			context_add(w, w->web, (const uint64_t[]){ FN(1) }, 1, NO_FRAMES, 0, 1);
		build_init(&b);
		build_summarize(w->interval, w->namer, &b);
		assert_int_equal(b.summary.hottest_event, i ? EVENT_CPU : EVENT_TRACEPOINT);
		assert_int_equal(b.summary.hottest_service_samples, i ? 1 : 2);
		build_fini(&b);
	}
}

/* Samples that are in wall-clock time as well as in their own profile are in both, and counted once. */
static void test_pprof_wall(void **state)
{
	const struct frame_ref frame = kernel_frame(FN(1));
	struct context *w = *state;
	const struct samples wall = { .labels = w->web,
				      .event = EVENT_WALL,
				      .source = EVENT_SOURCE_WALL,
				      .values = (const int64_t[]){ 55 },
				      .frames = &frame,
				      .n_kernel = 1,
				      .count = 5,
				      .n_again = 2 };
	struct pprof_facts facts;
	struct build b;
	bool is_new;

	context_add(w, w->web, (const uint64_t[]){ FN(1) }, 1, NO_FRAMES, 0, 2);
	assert_int_equal(interval_add(w->interval, &wall, &is_new), 0);
	build_init(&b);
	build_profiles(w->interval, w->namer, &b);
	assert_int_equal(b.summary.n_samples, 5);
	for (const struct built *x = b.first; x; x = x->next) {
		_cleanup_profile_ Perftools__Profiles__Profile *p = unpack(x, &facts);
		bool is_wall = x->event == EVENT_WALL;

		assert_type(p, is_wall ? "wall" : "cpu", "nanoseconds", is_wall ? "wall" : "cpu");
		assert_int_equal(facts.totals[0], is_wall ? 55 : 2 * PERIOD_NS);
		assert_int_equal(x->n_samples, is_wall ? 5 : 2);
		assert_int_equal(x->n_again, is_wall ? 2 : 0);
		assert_int_equal(x->profile->n_samples, is_wall ? 3 : 2);
	}
	assert_non_null(b.first->next);
	build_fini(&b);
}

/* FNV-1a. */
static uint64_t digest_of(const struct pprof_bytes *bytes)
{
	uint64_t digest = 0xcbf29ce484222325;

	for (size_t i = 0; i < bytes->n; i++)
		digest = (digest ^ bytes->data[i]) * 0x100000001b3;
	return digest;
}

/* A series of two labels and threads with names, one of a tracepoint, one that does not fit into one profile. */
static void fill_golden(struct context *w)
{
	const int64_t value = PERIOD_NS;
	const struct frame_ref frames[] = { kernel_frame(FN(5)), kernel_frame(FN(6)),
					    jit_frame(w->interval) };

	w->interval->tagging =
		(struct tagging){ .comm = COMM_LABEL | COMM_STACKFRAME, .pid = true };
	for (unsigned int i = 0; i < 3; i++) {
		const struct samples one = { .labels = w->db,
					     .values = &value,
					     .frames = frames,
					     .n_kernel = 2,
					     .n_user = 1,
					     .count = 1 + i,
					     .pid = 100 + i,
					     .comm = i % 2 ? "reader" : "writer" };
		bool is_new;

		assert_int_equal(interval_add(w->interval, &one, &is_new), 0);
	}
	fill(w);
	add_tracepoint(w, 3);
	for (unsigned int i = 0; i < 18000; i++)
		context_add(w, w->web, (const uint64_t[]){ FN(i % 150), FN(i / 150), FN(i % 7) }, 3,
			    NO_FRAMES, 0, 1);
}

/* What leaves for a server stays as it is, byte by byte: before compression, which is zlib's. */
static void test_pprof_bytes(void **state)
{
	static const struct {
		size_t n;
		uint64_t digest;
	} golden[] = { { 152, 0xa85567b481b53de3 },
		       { 216599, 0x587fa0e694fec407 },
		       { 30096, 0xc6002944ce6f44ba },
		       { 393, 0xbb37cf2a579e756 } };
	struct context *w = *state;
	struct build b;
	size_t i = 0;

	fill_golden(w);
	build_init(&b);
	build_profiles(w->interval, w->namer, &b);
	for (const struct built *x = b.first; x; x = x->next, i++) {
		const struct pprof_bytes gz = bytes_of(x);
		struct pprof_bytes plain = { 0 };

		assert_int_equal(pprof_gunzip(&gz, PLAIN_MAX_BYTES, &plain), 0);
		assert_in_range(i, 0, ARRAY_SIZE(golden) - 1);
		assert_int_equal(plain.n, golden[i].n);
		assert_int_equal(digest_of(&plain), golden[i].digest);
		pprof_bytes_fini(&plain);
	}
	assert_int_equal(i, ARRAY_SIZE(golden));
	build_fini(&b);
}

static void test_pprof_names(void **state)
{
	static const char *const expected[] = { "fn000", "fn001", "[jit]", "[unknown]",
						"[truncated: stack not readable]" };
	struct context *w = *state;
	const uint64_t kernel[] = { FN(0), FN(1) };
	const struct frame_ref cut[] = { jit_frame(w->interval), UNKNOWN, REASON(STACK_READ) };
	struct pprof_facts facts;
	struct build b;

	context_add(w, w->web, kernel, 2, cut, 3, 3);
	build_init(&b);
	build_profiles(w->interval, w->namer, &b);
	_cleanup_profile_ Perftools__Profiles__Profile *p = unpack(b.first, &facts);
	assert_int_equal(p->n_sample, 1);
	assert_int_equal(p->sample[0]->n_location_id, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		assert_string_equal(function_at(p, p->sample[0], i), expected[i]);
	assert_int_equal(p->sample[0]->value[0], 3 * PERIOD_NS);
	/* Frames that lie in no file have no mapping. */
	assert_int_equal(p->n_mapping, 1);
	assert_string_equal(p->string_table[p->mapping[0]->filename], "[kernel]");
	build_fini(&b);
}

/* Nothing to send; but a file without samples is a valid profile. */
static void test_pprof_empty(void **state)
{
	struct context *w = *state;
	struct pprof_facts facts;
	struct build b;

	build_init(&b);
	build_profiles(w->interval, w->namer, &b);
	assert_null(b.first);
	build_one_pprof(w->interval, w->namer, &b);
	assert_non_null(b.first);
	_cleanup_profile_ Perftools__Profiles__Profile *p = unpack(b.first, &facts);
	assert_int_equal(p->n_sample, 0);
	assert_int_equal(p->time_nanos, END_REAL_NS);
	assert_int_equal(b.first->n_samples, 0);
	assert_int_equal(b.summary.n_samples, 0);
	build_fini(&b);
}

static void test_one_pprof(void **state)
{
	struct context *w = *state;
	struct pprof_facts facts;
	struct build b;
	uint64_t by_process[2] = { 0 };

	fill(w);
	build_init(&b);
	build_one_pprof(w->interval, w->namer, &b);
	assert_null(b.first->next);
	assert_null(b.first->profile);
	_cleanup_profile_ Perftools__Profiles__Profile *p = unpack(b.first, &facts);
	assert_int_equal(facts.totals[0], 8 * PERIOD_NS);
	for (size_t i = 0; i < p->n_sample; i++) {
		const Perftools__Profiles__Sample *s = p->sample[i];

		assert_int_equal(s->n_label, 1);
		assert_string_equal(p->string_table[s->label[0]->key], "process");
		const char *process = p->string_table[s->label[0]->str];
		assert_true(strcmp(process, "web") == 0 || strcmp(process, "db") == 0);
		by_process[*process == 'd'] += (uint64_t)s->value[0];
	}
	assert_int_equal(by_process[0], 7 * PERIOD_NS);
	assert_int_equal(by_process[1], 1 * PERIOD_NS);
	build_fini(&b);
}

/* More distinct stacks than the server takes in a profile: several, a millisecond apart, and nothing is lost. */
static void test_split(void **state)
{
	enum { N_STACKS = N_FUNCTIONS * N_FUNCTIONS };
	struct context *w = *state;
	struct pprof_facts facts;
	struct build b;
	size_t n_stacks = 0, n_profiles = 0;
	uint64_t n_samples = 0, total = 0, last_time_ns = 0;

	for (unsigned int i = 0; i < N_FUNCTIONS; i++)
		for (unsigned int k = 0; k < N_FUNCTIONS; k++)
			context_add(w, w->web, (const uint64_t[]){ FN(i), FN(k) }, 2, NO_FRAMES, 0,
				    1 + i % 3);
	build_init(&b);
	b.spread_ns = 7;
	build_profiles(w->interval, w->namer, &b);
	for (const struct built *x = b.first; x; x = x->next, n_profiles++) {
		_cleanup_profile_ Perftools__Profiles__Profile *p = unpack(x, &facts);

		assert_ptr_equal(x->profile->labels, w->web);
		assert_int_equal(x->profile->spread_ns, 7);
		assert_in_range(facts.n_samples, 1, 16000);
		assert_true(facts.plain_bytes <= PPROF_OPTIONS_DEFAULT.max_bytes);
		assert_int_equal(facts.totals[0], x->n_samples * PERIOD_NS);
		assert_int_equal(p->time_nanos, x->time_ns);
		assert_true(n_profiles == 0 || x->time_ns >= last_time_ns + 1000000);
		last_time_ns = x->time_ns;
		n_stacks += facts.n_samples;
		n_samples += x->n_samples;
		total += (uint64_t)facts.totals[0];
	}
	assert_in_range(n_profiles, 3, 6);
	assert_int_equal(n_stacks, N_STACKS);
	assert_int_equal(n_samples, w->interval->n_samples);
	assert_int_equal(total, w->interval->n_samples * PERIOD_NS);
	assert_int_equal(b.summary.n_samples, w->interval->n_samples);
	assert_int_equal(b.summary.n_failed, 0);
	/* A file has no such limit. */
	build_fini(&b);
	build_one_pprof(w->interval, w->namer, &b);
	assert_null(b.first->next);
	assert_int_equal(b.first->n_samples, w->interval->n_samples);
	build_fini(&b);
}

static size_t bytes_made(const struct build *b)
{
	size_t n = 0;

	for (const struct built *x = b->first; x; x = x->next)
		for (enum profile_form form = 0; form < FORM_MAX; form++)
			n += profile_form_bytes(x->profile, form);
	return n;
}

/* Forms that nobody wants are not made; tables that nobody wants are not kept. */
static void test_only_what_is_wanted(void **state)
{
	static const struct {
		unsigned int wants;
		bool bytes, tables;
	} rows[] = { { 0, false, true }, /* whoever comes in between still finds it */
		     { PROFILE_WANT_TABLES, false, true },
		     { PROFILE_WANT(FORM_PPROF), true, false },
		     { PROFILE_WANT(FORM_OTLP_GZIP), true, false },
		     { PROFILE_WANT_TABLES | PROFILE_WANT(FORM_OTLP_GZIP), true, true },
		     { PROFILE_WANT_TABLES | PROFILE_WANT(FORM_PPROF), true, true } };
	struct context *w = *state;

	fill(w);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct build b;

		build_init(&b);
		b.wants = rows[i].wants;
		build_profiles(w->interval, w->namer, &b);
		assert_int_equal(bytes_made(&b) > 0, rows[i].bytes);
		for (const struct built *x = b.first; x; x = x->next)
			assert_int_equal(x->profile->tables != NULL, rows[i].tables);
		assert_int_equal(b.summary.n_samples, w->interval->n_samples);
		build_fini(&b);
	}
}

/* Series that become one on the way have times of their own, if somebody says so. */
static void test_times_apart(void **state)
{
	struct context *w = *state;

	fill(w);
	for (int apart = 0; apart < 2; apart++) {
		struct build b;
		size_t n = 0, n_equal = 0;

		build_init(&b);
		b.wants = PROFILE_WANT_TABLES | (apart ? PROFILE_WANT_APART : 0);
		build_profiles(w->interval, w->namer, &b);
		for (const struct built *x = b.first; x; x = x->next, n++) {
			assert_int_equal(x->profile->time_ns, x->time_ns);
			assert_in_range(x->time_ns, w->interval->end_real_ns,
					w->interval->end_real_ns + n * NS_PER_MS);
			for (const struct built *y = b.first; y != x; y = y->next)
				n_equal += x->time_ns / NS_PER_MS == y->time_ns / NS_PER_MS;
		}
		assert_true(n > 1);
		assert_int_equal(n_equal, apart ? 0 : n * (n - 1) / 2);
		build_fini(&b);
	}
}

/* Of tables half the ceiling is kept, and no more than receivers take; what is beyond goes out as bytes, and none is lost. */
static void check_kept(struct context *w, size_t max_bytes, size_t max_kept_bytes)
{
	struct pprof_facts facts;
	size_t n_kept = 0, n_packed = 0, kept_bytes = 0;
	uint64_t total = 0;
	struct build b;

	build_init(&b);
	b.max_bytes = max_bytes;
	b.max_kept_bytes = MIN_OF(max_kept_bytes, b.max_kept_bytes);
	build_profiles(w->interval, w->namer, &b);
	for (const struct built *x = b.first; x; x = x->next) {
		n_kept += x->profile->tables != NULL;
		n_packed += x->profile->tables == NULL;
		kept_bytes += x->profile->tables ? profile_memory_bytes(x->profile) : 0;
		_cleanup_profile_ Perftools__Profiles__Profile *p = unpack(x, &facts);
		total += (uint64_t)facts.totals[0];
	}
	assert_true(n_kept > 0 && n_packed > 0);
	assert_true(kept_bytes < MIN_OF(max_bytes / 2, max_kept_bytes) + 65536);
	assert_int_equal(total, w->interval->n_samples * PERIOD_NS);
	build_fini(&b);
}

static void test_kept_tables_have_a_ceiling(void **state)
{
	struct context *w = *state;

	for (unsigned int i = 0; i < N_FUNCTIONS; i++)
		for (unsigned int k = 0; k < N_FUNCTIONS; k++)
			context_add(w, w->web, (const uint64_t[]){ FN(i), FN(k) }, 2, NO_FRAMES, 0,
				    1);
	check_kept(w, (size_t)2 << 20, SIZE_MAX);
	/* However much memory there is. */
	check_kept(w, (size_t)4 << 20, (size_t)1 << 20);
}

/* The deepest stack there is, in every form. */
static void test_deepest_stack(void **state)
{
	static const build_fn forms[] = { build_profiles, build_one_pprof, build_folded,
					  build_table };
	struct context *w = *state;
	uint64_t kernel[WIRE_MAX_KERNEL_FRAMES];
	struct frame_ref user[WIRE_MAX_USER_FRAMES + 1];
	struct build b;

	for (unsigned int i = 0; i < ARRAY_SIZE(kernel); i++)
		kernel[i] = FN(i);
	for (unsigned int i = 0; i < WIRE_MAX_USER_FRAMES; i++)
		user[i] = jit_frame(w->interval);
	user[WIRE_MAX_USER_FRAMES] = REASON(DEPTH);
	context_add(w, w->web, kernel, ARRAY_SIZE(kernel), user, ARRAY_SIZE(user), 1);
	build_init(&b);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		forms[i](w->interval, w->namer, &b);
		assert_int_equal(b.summary.n_samples, 1);
		assert_int_equal(b.summary.n_failed, 0);
		build_fini(&b);
	}
}

static const struct unit_test tests[] = {
	TEST_WITH(test_folded, context_setup, context_teardown),
	TEST_WITH(test_folded_merges_lines, context_setup, context_teardown),
	TEST_WITH(test_folded_names_are_cleaned, context_setup, context_teardown),
	TEST_WITH(test_every_reason_has_its_frame, context_setup, context_teardown),
	TEST_WITH(test_generated_code, context_setup, context_teardown),
	TEST_WITH(test_frames_that_nobody_knows, context_setup, context_teardown),
	TEST_WITH(test_folded_empty, context_setup, context_teardown),
	TEST_WITH(test_hidden_kernel_is_one_frame, context_setup_hidden, context_teardown),
	TEST_WITH(test_table, context_setup, context_teardown),
	TEST(test_headings_of_tables),
	TEST_WITH(test_long_table_is_cut, context_setup, context_teardown),
	TEST_WITH(test_summary, context_setup, context_teardown),
	TEST_WITH(test_pprof, context_setup, context_teardown),
	TEST_WITH(test_pprof_wall, context_setup, context_teardown),
	TEST_WITH(test_tables, context_setup, context_teardown),
	TEST_WITH(test_summary_of_events, context_setup, context_teardown),
	TEST_WITH(test_pprof_events, context_setup, context_teardown),
	TEST_WITH(test_pprof_bytes, context_setup, context_teardown),
	TEST_WITH(test_pprof_names, context_setup, context_teardown),
	TEST_WITH(test_pprof_empty, context_setup, context_teardown),
	TEST_WITH(test_one_pprof, context_setup, context_teardown),
	TEST_WITH(test_split, context_setup, context_teardown),
	TEST_WITH(test_only_what_is_wanted, context_setup, context_teardown),
	TEST_WITH(test_times_apart, context_setup, context_teardown),
	TEST_WITH(test_kept_tables_have_a_ceiling, context_setup, context_teardown),
	TEST_WITH(test_deepest_stack, context_setup, context_teardown),
};

TEST_MAIN(tests)

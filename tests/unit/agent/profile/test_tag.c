/* SPDX-License-Identifier: Apache-2.0 */
/* What samples tell of their process: which stacks stay apart, and what of it stands in a profile. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include <errno.h>

#include "tests/support/pprof_check.h"

static void add_tagged(struct interval *i, struct labels *labels, uint32_t pid, const char *comm)
{
	const struct frame_ref stack[] = { kernel_frame(FN(1)), kernel_frame(FN(2)) };
	const int64_t value = PERIOD_NS;
	const struct samples one = { .labels = labels,
				     .values = &value,
				     .frames = stack,
				     .n_kernel = ARRAY_SIZE(stack),
				     .count = 1,
				     .pid = pid,
				     .comm = comm };
	bool is_new;

	assert_int_equal(interval_add(i, &one, &is_new), 0);
}

/* Three processes, two of one name. */
static void fill(struct interval *i, struct labels *labels)
{
	add_tagged(i, labels, 11, "nginx");
	add_tagged(i, labels, 12, "nginx");
	add_tagged(i, labels, 12, "nginx");
	add_tagged(i, labels, 13, "php");
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		enum comm_use use;
	} rows[] = { { "", COMM_NONE },
		     { "none", COMM_NONE },
		     { "label", COMM_LABEL },
		     { "stackframe", COMM_STACKFRAME },
		     { "both", COMM_BOTH } };
	enum comm_use use;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(comm_use_parse(rows[i].text, &use));
		assert_int_equal(use, rows[i].use);
	}
	use = COMM_LABEL;
	assert_false(comm_use_parse("Label", &use));
	assert_false(comm_use_parse("label ", &use));
	assert_int_equal(use, COMM_LABEL);
}

static void test_reasons(void **state)
{
	enum reason_use use = REASON_NONE;

	(void)state;
	assert_true(reason_use_parse("frame", &use));
	assert_int_equal(use, REASON_FRAME);
	assert_true(reason_use_parse("label", &use));
	assert_int_equal(use, REASON_LABEL);
	assert_false(reason_use_parse("both", &use));
	assert_false(reason_use_parse("", &use));
	assert_int_equal(use, REASON_LABEL);
	assert_true(reason_use_parse("none", &use));
	assert_int_equal(use, REASON_NONE);
	assert_string_equal(wait_reason_label(WAIT_UNKNOWN), "");
	assert_string_equal(wait_reason_label(WAIT_OTHER), "other");
}

static int get(struct hash_table *tags, struct arena *arena, uint32_t pid, const char *comm,
	       enum wait_reason reason, const struct sample_tag **ret_tag)
{
	return tag_get(
		tags, arena,
		&(struct sample_tag){ .pid = pid, .comm = comm, .reason = reason, .thread = "" },
		ret_tag);
}

static void test_equal_tags_are_one(void **state)
{
	_cleanup_(arena_fini) struct arena arena;
	struct hash_table tags = HASH_TABLE_INIT;
	const struct sample_tag *a = NULL, *b = NULL;
	char comm[] = "nginx";

	(void)state;
	arena_init(&arena, 1 << 20);
	assert_int_equal(get(&tags, &arena, 7, comm, WAIT_UNKNOWN, &a), 0);
	comm[0] = 'N';
	assert_string_equal(a->comm, "nginx");
	assert_int_equal(get(&tags, &arena, 7, "nginx", WAIT_UNKNOWN, &b), 0);
	assert_ptr_equal(a, b);
	assert_int_equal(get(&tags, &arena, 8, "nginx", WAIT_UNKNOWN, &b), 0);
	assert_ptr_not_equal(a, b);
	assert_int_equal(get(&tags, &arena, 7, comm, WAIT_UNKNOWN, &b), 0);
	assert_ptr_not_equal(a, b);
	assert_int_equal(get(&tags, &arena, 7, "nginx", WAIT_LOCK, &b), 0);
	assert_ptr_not_equal(a, b);
	assert_string_equal(wait_reason_label(b->reason), "lock");
	assert_int_equal(tags.n, 4);
	const struct sample_tag failed = {
		.pid = 7, .comm = "nginx", .thread = "", .error = EAGAIN
	};
	assert_int_equal(tag_get(&tags, &arena, &failed, &b), 0);
	assert_ptr_not_equal(a, b);
	assert_int_equal(b->error, EAGAIN);
	assert_int_equal(tags.n, 5);
	const struct sample_tag io = { .comm = "",
				       .thread = "",
				       .io = WIRE_IO(WIRE_IO_FLUSH, 8, 0),
				       .device = "sda" };
	assert_int_equal(tag_get(&tags, &arena, &io, &a), 0);
	assert_int_equal(tag_get(&tags, &arena, &io, &b), 0);
	assert_ptr_equal(a, b);
	assert_string_equal(b->device, "sda");
	assert_string_equal(io_operation_label(WIRE_IO_OPERATION(b->io)), "flush");
	assert_int_equal(tags.n, 6);
	hash_fini(&tags);
}

static void test_threads_and_tiers(void **state)
{
	_cleanup_(arena_fini) struct arena arena;
	struct hash_table tags = HASH_TABLE_INIT;
	char name[] = "http-nio-8080-exec-1";
	struct sample_tag of = { .comm = "", .thread = name, .tier = WIRE_TIER_OF(4) };
	const struct sample_tag *a = NULL, *b = NULL;

	(void)state;
	arena_init(&arena, 1 << 20);
	assert_int_equal(tag_get(&tags, &arena, &of, &a), 0);
	assert_int_equal(tag_get(&tags, &arena, &of, &b), 0);
	assert_ptr_equal(a, b);
	name[19] = '2';
	assert_string_equal(a->thread, "http-nio-8080-exec-1");
	assert_int_equal(tag_get(&tags, &arena, &of, &b), 0);
	assert_ptr_not_equal(a, b);
	name[19] = '1';
	of.tier = WIRE_TIER_OF(1);
	assert_int_equal(tag_get(&tags, &arena, &of, &b), 0);
	assert_ptr_not_equal(a, b);
	assert_int_equal(tags.n, 3);
	hash_fini(&tags);
}

static void test_tier_labels(void **state)
{
	(void)state;
	assert_string_equal(tier_label(WIRE_TIER_NONE), "");
	assert_string_equal(tier_label(WIRE_TIER_INTERPRETED), "interpreted");
	assert_string_equal(tier_label(WIRE_TIER_OF(1)), "tier 1");
	assert_string_equal(tier_label(WIRE_TIER_OF(WIRE_TIER_LAST)), "tier 4");
	assert_string_equal(tier_label(WIRE_TIER_NATIVE), "native");
	assert_string_equal(tier_label(WIRE_TIERS), "");
}

static void test_ceiling(void **state)
{
	_cleanup_(arena_fini) struct arena arena;
	struct hash_table tags = HASH_TABLE_INIT;
	const struct sample_tag *tag = NULL;
	uint32_t pid = 1;

	(void)state;
	arena_init(&arena, (size_t)256 << 10);
	while (get(&tags, &arena, pid, "nginx", WAIT_UNKNOWN, &tag) == 0)
		pid++;
	assert_in_range(pid, 100, 100000);
	assert_int_equal(tag->pid, pid - 1);
	assert_int_equal(get(&tags, &arena, pid, "nginx", WAIT_UNKNOWN, &tag), -ENOMEM);
	/* What is there is found all the same. */
	assert_int_equal(get(&tags, &arena, 1, "nginx", WAIT_UNKNOWN, &tag), 0);
	hash_fini(&tags);
}

static void test_stacks_stay_apart_as_asked_for(void **state)
{
	static const struct {
		struct tagging tagging;
		size_t n_stacks;
	} rows[] = {
		{ { COMM_NONE, false, REASON_NONE, false, false }, 1 },
		{ { COMM_NONE, true, REASON_NONE, false, false }, 3 },
		{ { COMM_LABEL, false, REASON_NONE, false, false }, 2 },
		{ { COMM_STACKFRAME, false, REASON_NONE, false, false }, 2 },
		{ { COMM_BOTH, false, REASON_NONE, false, false }, 2 },
		{ { COMM_LABEL, true, REASON_NONE, false, false }, 3 },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		_cleanup_(interval_freep) struct interval *i = NULL;
		_cleanup_(labels_unrefp) struct labels *web = make_service("web");

		assert_int_equal(interval_new(PERIOD_NS, 1 << 20, &i), 0);
		i->tagging = rows[k].tagging;
		fill(i, web);
		assert_int_equal(i->n_stacks, rows[k].n_stacks);
		assert_int_equal(i->n_samples, 4);
		assert_int_equal(i->tags.n,
				 tagging_wants_any(rows[k].tagging) ? rows[k].n_stacks : 0);
	}
}

/* Samples that go on to the next interval keep what they tell, as far as that one asks for it. */
static void test_carried_on(void **state)
{
	_cleanup_(interval_freep) struct interval *from = NULL, *to = NULL, *other = NULL;
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	uint64_t n;

	(void)state;
	assert_int_equal(interval_new(PERIOD_NS, 1 << 20, &from), 0);
	assert_int_equal(interval_new(PERIOD_NS, 1 << 20, &to), 0);
	assert_int_equal(interval_new(PERIOD_NS, 1 << 20, &other), 0);
	from->tagging = to->tagging =
		(struct tagging){ COMM_BOTH, true, REASON_NONE, false, false };
	fill(from, web);
	assert_int_equal(interval_carry(to, from, from->series, &n), 0);
	assert_int_equal(interval_carry(other, from, from->series, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(to->n_stacks, 3);
	assert_int_equal(other->n_stacks, 1);
	interval_freep(&from);
	from = NULL;
	for (const struct stack *s = to->series->stacks; s; s = s->next)
		assert_string_equal(s->tag->comm, s->tag->pid == 13 ? "php" : "nginx");
	assert_null(other->series->stacks->tag);
}

/* "pid=11 comm=nginx | frames root;…;leaf | ticks" for each sample, in the order of the profile. */
static void show(const Perftools__Profiles__Profile *p, struct buf *out)
{
	for (size_t i = 0; i < p->n_sample; i++) {
		const Perftools__Profiles__Sample *s = p->sample[i];

		for (size_t k = 0; k < s->n_label; k++) {
			assert_int_equal(s->label[k]->num, 0);
			(void)buf_printf(out, "%s=%s ", p->string_table[s->label[k]->key],
					 p->string_table[s->label[k]->str]);
		}
		for (size_t k = s->n_location_id; k-- > 0;) {
			const Perftools__Profiles__Location *l = p->location[s->location_id[k] - 1];
			const Perftools__Profiles__Function *f =
				p->function[l->line[0]->function_id - 1];

			assert_int_equal(l->id, s->location_id[k]);
			(void)buf_printf(out, "%s;", p->string_table[f->name]);
		}
		(void)buf_printf(out, " %d\n", (int)(s->value[0] / (int64_t)PERIOD_NS));
	}
}

static Perftools__Profiles__Profile *unpack(const struct built *b)
{
	struct pprof_bytes gz;
	struct pprof_bytes plain = { 0 };
	struct pprof_facts facts;

	assert_int_equal(profile_encode(b->profile, FORM_PPROF, &gz), 0);
	assert_int_equal(pprof_gunzip(&gz, 1 << 20, &plain), 0);
	pprof_bytes_fini(&gz);
	assert_null(pprof_check_plain(&plain, &facts));
	Perftools__Profiles__Profile *p =
		perftools__profiles__profile__unpack(NULL, plain.n, plain.data);
	pprof_bytes_fini(&plain);
	assert_non_null(p);
	return p;
}

static void test_profile(void **state)
{
	static const struct {
		struct tagging tagging;
		const char *text;
	} rows[] = {
		{ { COMM_NONE, false, REASON_NONE, false, false }, "fn002;fn001; 4\n" },
		{ { COMM_LABEL, false, REASON_NONE, false, false },
		  "comm=php fn002;fn001; 1\ncomm=nginx fn002;fn001; 3\n" },
		{ { COMM_STACKFRAME, false, REASON_NONE, false, false },
		  "php;fn002;fn001; 1\nnginx;fn002;fn001; 3\n" },
		{ { COMM_BOTH, true, REASON_NONE, false, false },
		  "comm=php pid=13 php;fn002;fn001; 1\ncomm=nginx pid=12 nginx;fn002;fn001; 2\n"
		  "comm=nginx pid=11 nginx;fn002;fn001; 1\n" },
		{ { COMM_NONE, true, REASON_NONE, false, false },
		  "pid=13 fn002;fn001; 1\npid=12 fn002;fn001; 2\npid=11 fn002;fn001; 1\n" },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		_cleanup_buf_ struct buf text = BUF_INIT(4096);
		void *fresh = NULL;
		struct build b;

		assert_int_equal(context_setup(&fresh), 0);
		struct context *w = fresh;
		w->interval->tagging = rows[k].tagging;
		fill(w->interval, w->web);
		build_init(&b);
		build_profiles(w->interval, w->namer, &b);
		assert_int_equal(b.summary.n_samples, 4);
		Perftools__Profiles__Profile *p = unpack(b.first);
		show(p, &text);
		assert_string_equal(buf_str(&text), rows[k].text);
		perftools__profiles__profile__free_unpacked(p, NULL);
		build_fini(&b);
		assert_int_equal(context_teardown(&fresh), 0);
	}
}

/* Who has no number or no name has no label of it, and no empty frame. */
static void test_what_is_not_known_is_not_told(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct build b;

	w->interval->tagging = (struct tagging){ COMM_BOTH, true, REASON_NONE, false, false };
	add_tagged(w->interval, w->web, 0, "");
	add_tagged(w->interval, w->web, 0, NULL);
	build_init(&b);
	build_profiles(w->interval, w->namer, &b);
	Perftools__Profiles__Profile *p = unpack(b.first);
	show(p, &text);
	assert_string_equal(buf_str(&text), "fn002;fn001; 2\n");
	perftools__profiles__profile__free_unpacked(p, NULL);
	build_fini(&b);
}

static void test_labels_of_threads_and_tiers(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct frame_ref frames[] = { frame_ref_of(FRAME_KIND_UNKNOWN, 0) };
	const int64_t values[] = { PERIOD_NS };
	const struct samples of = { .labels = w->web,
				    .event = EVENT_CPU,
				    .values = values,
				    .frames = frames,
				    .n_user = 1,
				    .count = 1,
				    .thread = "main",
				    .tier = WIRE_TIER_OF(3) };
	bool is_new;
	struct build b;

	w->interval->tagging = (struct tagging){ .thread = true, .tier = true };
	assert_int_equal(interval_add(w->interval, &of, &is_new), 0);
	w->interval->tagging = (struct tagging){ .pid = true };
	assert_int_equal(interval_add(w->interval, &of, &is_new), 0);
	build_init(&b);
	build_profiles(w->interval, w->namer, &b);
	Perftools__Profiles__Profile *p = unpack(b.first);
	show(p, &text);
	assert_non_null(strstr(buf_str(&text), "thread_name=main tier=tier 3 "));
	assert_int_equal(p->n_sample, 2);
	assert_int_equal(p->sample[0]->n_label + p->sample[1]->n_label, 2);
	perftools__profiles__profile__free_unpacked(p, NULL);
	build_fini(&b);
}

static const struct unit_test tests[] = {
	TEST(test_parse),
	TEST(test_reasons),
	TEST(test_equal_tags_are_one),
	TEST(test_threads_and_tiers),
	TEST(test_tier_labels),
	TEST(test_ceiling),
	TEST(test_stacks_stay_apart_as_asked_for),
	TEST(test_carried_on),
	TEST(test_profile),
	TEST_WITH(test_labels_of_threads_and_tiers, context_setup, context_teardown),
	TEST_WITH(test_what_is_not_known_is_not_told, context_setup, context_teardown),
};

TEST_MAIN(tests)

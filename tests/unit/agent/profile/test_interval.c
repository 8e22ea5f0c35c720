/* SPDX-License-Identifier: Apache-2.0 */
/* Unique stacks by series, and the ceiling of memory. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include <errno.h>

#include "agent/util/hash.h"
#include "tests/support/assert_frame.h"

#define STACK_USER_FRAMES 3

/* The counts of all stacks make up what was added. */
static void check_sums(const struct interval *i, uint64_t n_samples)
{
	uint64_t all = 0;
	size_t n_stacks = 0;
	size_t n_series = 0;

	for (const struct series *s = i->series; s; s = s->next, n_series++) {
		uint64_t sum = 0;
		size_t n = 0;

		for (const struct stack *stack = s->stacks; stack; stack = stack->next, n++) {
			assert_ptr_equal(stack->series, s);
			sum += stack->count;
		}
		assert_int_equal(s->n_samples, sum);
		assert_int_equal(s->n_stacks, n);
		all += sum;
		n_stacks += n;
	}
	assert_int_equal(i->n_samples, all);
	assert_int_equal(i->n_samples, n_samples);
	assert_int_equal(i->n_stacks, n_stacks);
	assert_int_equal(i->n_series, n_series);
}

static struct interval *make_interval(size_t max_bytes)
{
	struct interval *i = NULL;

	assert_int_equal(interval_new(PERIOD_NS, max_bytes, &i), 0);
	return i;
}

static void test_equal_stacks_merge(void **state)
{
	const uint64_t kernel[] = { FN(1), FN(2) };
	const struct frame_ref user[] = { frame_ref_of_file(1, 3), frame_ref_of_file(2, 4),
					  UNKNOWN };
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	bool is_new = false;

	(void)state;
	assert_int_equal(add_sample(i, web, kernel, 2, user, 3, &is_new), 0);
	assert_true(is_new);
	assert_int_equal(add_sample(i, web, kernel, 2, user, 3, &is_new), 0);
	assert_false(is_new);
	check_sums(i, 2);
	assert_int_equal(i->n_stacks, 1);
	const struct stack *s = i->series->stacks;
	assert_int_equal(s->count, 2);
	assert_int_equal(s->n_kernel, 2);
	assert_int_equal(s->n_user, 3);
	for (size_t k = 0; k < 2; k++)
		assert_frame(s->frames[k], kernel_frame(kernel[k]));
	for (size_t k = 0; k < 3; k++)
		assert_frame(s->frames[2 + k], user[k]);
}

/* The same numbers, but another border between kernel and user, or another length. */
static void test_unlike_stacks_do_not(void **state)
{
	const struct frame_ref frames[] = { kernel_frame(FN(1)), kernel_frame(FN(2)),
					    frame_ref_of_file(1, 3), UNKNOWN };
	const int64_t value = PERIOD_NS;
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	bool is_new;

	(void)state;
	for (uint16_t n_kernel = 0; n_kernel <= 4; n_kernel++)
		for (uint16_t n_user = 0; n_kernel + n_user <= 4; n_user++) {
			const struct samples one = { .labels = web,
						     .values = &value,
						     .frames = frames,
						     .n_kernel = n_kernel,
						     .n_user = n_user,
						     .count = 1 };

			assert_int_equal(interval_add(i, &one, &is_new), 0);
			assert_true(is_new);
		}
	check_sums(i, 15);
	assert_int_equal(i->n_stacks, 15);
}

static void test_series_by_pointer_and_by_equality(void **state)
{
	const struct frame_ref user[] = { frame_ref_of_file(1, 7) };
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(labels_unrefp) struct labels *same = make_service("web");
	_cleanup_(labels_unrefp) struct labels *db = make_service("db");
	bool is_new;

	(void)state;
	assert_ptr_not_equal(web, same);
	assert_int_equal(add_sample(i, web, NO_FRAMES, 0, user, 1, &is_new), 0);
	assert_int_equal(add_sample(i, same, NO_FRAMES, 0, user, 1, &is_new), 0);
	assert_false(is_new);
	assert_int_equal(add_sample(i, db, NO_FRAMES, 0, user, 1, &is_new), 0);
	assert_true(is_new);
	check_sums(i, 3);
	assert_int_equal(i->n_series, 2);
	/* One reference each, but none to the set that was not needed. */
	assert_int_equal(web->n_refs, 2);
	assert_int_equal(same->n_refs, 1);
	assert_int_equal(db->n_refs, 2);
}

static void test_name_of_a_series(void **state)
{
	const struct label other = { "region", "eu" };
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(labels_unrefp) struct labels *nameless = NULL;

	(void)state;
	assert_int_equal(labels_new(&other, 1, &nameless), 0);
	assert_string_equal(series_name(&(struct series){ .labels = web }), "web");
	assert_string_equal(series_name(&(struct series){ .labels = nameless }), "process");
}

/* Each number is another stack. */
static int add_stack(struct interval *i, struct labels *labels, uint64_t which, bool *ret_is_new)
{
	const uint64_t kernel = KERNEL_TEXT + hash_u64(which) % (1 << 20);
	struct frame_ref user[STACK_USER_FRAMES];

	for (unsigned int k = 0; k < STACK_USER_FRAMES; k++)
		user[k] = frame_ref_of_file(1000 + k, hash_u64(which * STACK_USER_FRAMES + k));
	return add_sample(i, labels, &kernel, 1, user, STACK_USER_FRAMES, ret_is_new);
}

static void test_ten_thousand_stacks(void **state)
{
	enum { N = 10000 };
	_cleanup_(interval_freep) struct interval *i = make_interval((size_t)8 << 20);
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	bool is_new;

	(void)state;
	for (unsigned int round = 0; round < 2; round++)
		for (uint64_t which = 0; which < N; which++) {
			assert_int_equal(add_stack(i, web, which, &is_new), 0);
			assert_int_equal(is_new, round == 0);
		}
	check_sums(i, 2 * N);
	assert_int_equal(i->n_stacks, N);
	for (const struct stack *s = i->series->stacks; s; s = s->next)
		assert_int_equal(s->count, 2);
}

static void test_memory_ceiling(void **state)
{
	enum { MAX_BYTES = 200 * 1024 };
	_cleanup_(interval_freep) struct interval *i = make_interval(MAX_BYTES);
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	uint64_t n = 0;
	bool is_new = true;
	int r = 0;

	(void)state;
	while (n < 100000) {
		r = add_stack(i, web, n, &is_new);
		if (r < 0)
			break;
		n++;
	}
	assert_int_equal(r, -ENOMEM);
	assert_in_range(n, 500, 10000);
	assert_true(i->arena.used_bytes <= MAX_BYTES);
	check_sums(i, n);
	/* What is there already still counts, and nothing was changed by the refusal. */
	assert_int_equal(add_stack(i, web, 0, &is_new), 0);
	assert_false(is_new);
	assert_int_equal(add_stack(i, web, n, &is_new), -ENOMEM);
	assert_false(is_new);
	check_sums(i, n + 1);
}

static void test_no_memory_at_all(void **state)
{
	const struct frame_ref user[] = { frame_ref_of_file(1, 7) };
	_cleanup_(interval_freep) struct interval *i = make_interval(64);
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	bool is_new = false;

	(void)state;
	assert_int_equal(add_sample(i, web, NO_FRAMES, 0, user, 1, &is_new), -ENOMEM);
	check_sums(i, 0);
	assert_int_equal(i->n_series, 0);
	assert_int_equal(web->n_refs, 1);
}

static struct interval *make_two_series(struct labels *web, struct labels *db)
{
	struct interval *i = make_interval(1 << 20);
	bool is_new;

	for (uint64_t which = 0; which < 30; which++)
		assert_int_equal(add_stack(i, which < 20 ? web : db, which % 10, &is_new), 0);
	check_sums(i, 30);
	assert_int_equal(i->n_stacks, 20);
	return i;
}

static void test_relabel(void **state)
{
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(labels_unrefp) struct labels *db = make_service("db");
	_cleanup_(labels_unrefp) struct labels *other = make_service("other");
	_cleanup_(interval_freep) struct interval *i = make_two_series(web, db);
	struct series *s = interval_series(i, web, 0);

	(void)state;
	assert_int_equal(interval_relabel(i, s, web), 0);
	check_sums(i, 30);
	assert_int_equal(interval_relabel(i, s, other), 0);
	assert_ptr_equal(interval_series(i, other, 0), s);
	assert_null(interval_series(i, web, 0));
	assert_int_equal(web->n_refs, 1);
	assert_int_equal(s->n_samples, 20);
	check_sums(i, 30);
	assert_int_equal(i->n_series, 2);
	/* There is one with these labels: now both are it. */
	assert_int_equal(interval_relabel(i, s, db), 0);
	assert_int_equal(i->n_series, 1);
	assert_int_equal(interval_series(i, db, 0)->n_samples, 30);
	assert_int_equal(other->n_refs, 1);
	check_sums(i, 30);
}

static void add_event(struct interval *i, struct labels *labels, enum event event, int64_t value)
{
	const struct frame_ref frame = kernel_frame(KERNEL_TEXT);
	const struct samples one = { .labels = labels,
				     .event = event,
				     .source = event == EVENT_CPU ? 0 : 1,
				     .values = &value,
				     .frames = &frame,
				     .n_kernel = 1,
				     .count = 1 };
	bool is_new;

	assert_int_equal(interval_add(i, &one, &is_new), 0);
}

/* Equal stacks with equal labels are two series when the events differ, through all that becomes of them. */
static void test_events(void **state)
{
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(labels_unrefp) struct labels *db = make_service("db");
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	_cleanup_(interval_freep) struct interval *next = make_interval(1 << 20);
	uint64_t n;

	(void)state;
	add_event(i, web, EVENT_CPU, PERIOD_NS);
	add_event(i, web, EVENT_TRACEPOINT, 40);
	add_event(i, web, EVENT_TRACEPOINT, 2);
	assert_int_equal(i->n_series, 2);
	assert_int_equal(i->periods[EVENT_CPU], PERIOD_NS);
	assert_int_equal(i->periods[EVENT_TRACEPOINT], 1);
	struct series *s = interval_series(i, web, 1);
	assert_int_equal(s->n_samples, 2);
	assert_int_equal(*stack_values(s->stacks), 42);
	assert_int_equal(*stack_values(interval_series(i, web, 0)->stacks), PERIOD_NS);
	assert_int_equal(interval_relabel(i, s, db), 0);
	assert_ptr_equal(interval_series(i, db, 1), s);
	assert_null(interval_series(i, web, 1));
	assert_int_equal(interval_relabel(i, s, web), 0);
	assert_int_equal(i->n_series, 2);
	assert_int_equal(interval_carry(next, i, s, &n), 0);
	assert_int_equal(n, 2);
	assert_null(interval_series(next, web, 0));
	assert_int_equal(*stack_values(interval_series(next, web, 1)->stacks), 42);
	assert_int_equal(interval_drop(i, s), 2);
	check_sums(i, 1);
}

/* Whatever a sample says that it is worth, a sum stays in its range. */
static void test_values__saturate(void **state)
{
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);

	(void)state;
	add_event(i, web, EVENT_TRACEPOINT, INT64_MAX);
	add_event(i, web, EVENT_TRACEPOINT, INT64_MAX);
	assert_int_equal(*stack_values(i->series->stacks), INT64_MAX);
}

static void test_drop(void **state)
{
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(labels_unrefp) struct labels *db = make_service("db");
	_cleanup_(interval_freep) struct interval *i = make_two_series(web, db);

	(void)state;
	assert_int_equal(interval_drop(i, interval_series(i, web, 0)), 20);
	assert_null(interval_series(i, web, 0));
	check_sums(i, 10);
	assert_int_equal(interval_drop(i, interval_series(i, db, 0)), 10);
	check_sums(i, 0);
	assert_null(i->series);
}

/* What it speaks of comes along: files, and memory without files. */
static void test_carry(void **state)
{
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(labels_unrefp) struct labels *db = make_service("db");
	_cleanup_(interval_freep) struct interval *from = make_two_series(web, db);
	_cleanup_(interval_freep) struct interval *to = make_interval(1 << 20);
	_cleanup_(file_table_freep) struct file_table *files = NULL;
	struct file_facts facts = { .key = { .dev = 1, .inode = 2 }, .path = str_from("/bin/x") };
	const struct anon_place here = { .memory = "[heap]" }, there = { .memory = "[stack]" };
	struct mapped_file *f = NULL;
	const uint64_t kernel[] = { FN(1) };
	struct frame_ref user[2], elsewhere;
	uint64_t n = 0;
	bool is_new;

	(void)state;
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &files), 0);
	assert_int_equal(file_table_get(files, &facts, &f), 0);
	assert_int_equal(interval_add_file(from, f), 0);
	assert_int_equal(interval_anon_frame(from, &here, &user[0]), 0);
	/* The number of the place is another one there. */
	assert_int_equal(interval_anon_frame(to, &there, &elsewhere), 0);
	user[1] = frame_ref_of_file(f->id, 42);
	for (int i = 0; i < 3; i++)
		assert_int_equal(add_sample(from, web, kernel, 1, user, 2, &is_new), 0);
	assert_int_equal(interval_carry(to, from, interval_series(from, web, 0), &n), 0);
	assert_int_equal(n, 23);
	check_sums(to, 23);
	check_sums(from, 33);
	assert_ptr_equal(interval_file(to, f->id), f);
	const struct stack *s = interval_series(to, web, 0)->stacks;
	assert_int_equal(interval_series(to, web, 0)->n_stacks, 11);
	while (s->n_user != 2)
		s = s->next;
	assert_int_equal(s->count, 3);
	assert_frame(s->frames[0], kernel_frame(FN(1)));
	assert_false(frame_ref_equal(s->frames[1], user[0]));
	assert_string_equal(interval_anon(to, s->frames[1])->memory, "[heap]");
	assert_frame(s->frames[2], user[1]);
	mapped_file_unref(f);
}

/* What is under way has its stack in the next interval, too, and no samples there. */
static void test_carry_stack(void **state)
{
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(labels_unrefp) struct labels *db = make_service("db");
	_cleanup_(interval_freep) struct interval *from = make_interval(1 << 20);
	_cleanup_(interval_freep) struct interval *to = make_interval(1 << 20);
	_cleanup_(interval_freep) struct interval *full = make_interval(64);
	const struct frame_ref frame = kernel_frame(FN(1));
	const int64_t values[EVENT_MAX_VALUES] = { 7, 4096, 1 };
	const struct samples one = { .labels = web,
				     .event = EVENT_BLOCK_IO,
				     .source = EVENT_SOURCE_BLOCK_IO,
				     .values = values,
				     .frames = &frame,
				     .n_kernel = 1,
				     .count = 1,
				     .io = WIRE_IO(WIRE_IO_READ, 8, 0),
				     .device = "sda" };
	struct stack *s = NULL;
	bool is_new;

	(void)state;
	assert_int_equal(interval_add(from, &one, &is_new), 0);
	assert_int_equal(interval_carry_stack(full, from, from->last, db, &s), -ENOMEM);
	assert_null(s);
	assert_int_equal(interval_carry_stack(to, from, from->last, db, &s), 0);
	assert_ptr_equal(s, interval_series(to, db, EVENT_SOURCE_BLOCK_IO)->stacks);
	assert_int_equal(s->count, 0);
	assert_int_equal(to->n_samples, 0);
	for (size_t v = 0; v < 3; v++)
		assert_int_equal(stack_values(s)[v], 0);
	assert_string_equal(s->tag->device, "sda");
	assert_int_equal(s->tag->io, one.io);
	assert_frame(s->frames[0], frame);
	assert_int_equal(stack_values(from->last)[0], 7);
}

static void test_carry_without_room(void **state)
{
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	_cleanup_(labels_unrefp) struct labels *db = make_service("db");
	_cleanup_(interval_freep) struct interval *from = make_two_series(web, db);
	_cleanup_(interval_freep) struct interval *to = make_interval(64);
	uint64_t n = 1;

	(void)state;
	assert_int_equal(interval_carry(to, from, interval_series(from, web, 0), &n), -ENOMEM);
	assert_int_equal(n, 0);
	check_sums(to, 0);
}

/* Files come in any order and are found by id. */
static void test_files(void **state)
{
	enum { N = 50 };
	struct context *w = *state;
	struct mapped_file *files[N];

	for (uint64_t n = 0; n < N; n++) {
		struct file_facts facts = { .key = { .dev = 1, .inode = n + 1 },
					    .path = STR_LIT("/x") };

		assert_int_equal(file_table_get(w->files, &facts, &files[n]), 0);
	}
	for (unsigned int n = 0; n < 3 * N; n++)
		assert_int_equal(interval_add_file(w->interval, files[n * 7 % N]), 0);
	assert_int_equal(w->interval->n_files, N);
	for (size_t n = 0; n < N; n++) {
		assert_ptr_equal(interval_file(w->interval, files[n]->id), files[n]);
		if (n > 0)
			assert_true(w->interval->files[n - 1]->id < w->interval->files[n]->id);
		mapped_file_unref(files[n]);
	}
	assert_null(interval_file(w->interval, 0));
	assert_null(interval_file(w->interval, 1000));
	/* The interval's own references keep them; without it nobody wants them. */
	assert_int_equal(file_table_n_idle(w->files), 0);
	interval_free(TAKE_PTR(w->interval));
	assert_int_equal(file_table_n_idle(w->files), N);
}

static struct frame_ref anon_frame(struct interval *i, struct jit_files *jit, uint64_t pc,
				   const char *memory)
{
	const struct anon_place place = { .jit = jit, .pc = pc, .memory = memory };
	struct frame_ref frame = FRAME_REF_NONE;

	assert_int_equal(interval_anon_frame(i, &place, &frame), 0);
	return frame;
}

/* One address in two processes is two places; memory that nobody names is one by its name. */
static void test_places_without_a_file(void **state)
{
	struct jit_files a = { .n_refs = 1, .map_fd = -1, .dump_fd = -1 }, b = a;
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	char heap[] = "[heap]";

	(void)state;
	struct frame_ref of_a = anon_frame(i, &a, 0x1000, NULL);
	struct frame_ref of_b = anon_frame(i, &b, 0x1000, NULL);
	assert_false(frame_ref_equal(of_a, of_b));
	assert_false(frame_ref_equal(of_a, anon_frame(i, &a, 0x1001, NULL)));
	assert_frame(of_a, anon_frame(i, &a, 0x1000, NULL));
	struct frame_ref in_heap = anon_frame(i, NULL, 0, heap);
	assert_frame(in_heap, anon_frame(i, NULL, 0, "[heap]"));
	assert_false(frame_ref_equal(in_heap, anon_frame(i, NULL, 0, NULL)));
	assert_int_equal(frame_ref_file_id(of_a), 0);
	heap[1] = 'X'; /* the interval has its own copy */
	assert_ptr_equal(interval_anon(i, of_b)->jit, &b);
	assert_int_equal(interval_anon(i, of_b)->pc, 0x1000);
	assert_string_equal(interval_anon(i, in_heap)->memory, "[heap]");
	/* The same number of another kind is none. */
	for (int kind = 0; kind <= FRAME_KIND_MAX; kind++)
		assert_true(!interval_anon(i, frame_ref_of(kind, frame_ref_value(of_b))) ==
			    (kind != FRAME_KIND_PLACE));
	assert_null(interval_anon(i, FRAME_REF_NONE));
	assert_null(interval_anon(i, frame_ref_of(FRAME_KIND_PLACE, frame_ref_value(of_a) + 5)));
	assert_int_equal(a.n_refs, 3);
	interval_free(TAKE_PTR(i));
	assert_int_equal(a.n_refs, 1);
	assert_int_equal(b.n_refs, 1);
}

/* What was told by then makes another place of an address: it may have another name. */
static void test_moments(void **state)
{
	struct jit_files jit = { .n_refs = 1, .map_fd = -1, .dump_fd = -1 };
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	struct anon_place place = { .jit = &jit, .pc = 0x1000 };
	struct frame_ref first, second, third, again;

	(void)state;
	assert_int_equal(interval_anon_frame(i, &place, &first), 0);
	place.at.map_bytes = 100;
	assert_int_equal(interval_anon_frame(i, &place, &second), 0);
	place.at.time_ns = 7;
	assert_int_equal(interval_anon_frame(i, &place, &third), 0);
	assert_int_equal(interval_anon_frame(i, &place, &again), 0);
	assert_false(frame_ref_equal(first, second));
	assert_false(frame_ref_equal(second, third));
	assert_frame(third, again);
	assert_int_equal(interval_anon(i, third)->at.map_bytes, 100);
	assert_int_equal(interval_anon(i, third)->at.time_ns, 7);
	interval_free(TAKE_PTR(i));
	assert_int_equal(jit.n_refs, 1);
}

/* Two profiles of a series within a millisecond are one for a server: the other is gone. */
static void test_no_time_twice(void **state)
{
	static const struct {
		uint64_t last, end, expected;
	} rows[] = {
		{ 0, 5000000, 5000000 },
		{ 4999999, 5000000, 5000000 },
		{ 5000000, 5000001, 6000000 },
		{ 5999999, 5000000, 6000000 },
		/* Of three parts the last had the time two milliseconds after the first. */
		{ 7123456, 6000000, 8000000 },
		{ 5000000, 9000001, 9000001 },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		struct interval *i = make_interval(SIZE_MAX);

		i->end_real_ns = rows[k].end;
		interval_end_after(i, rows[k].last);
		assert_int_equal(i->end_real_ns, rows[k].expected);
		interval_free(i);
	}
}

static void test_many_places(void **state)
{
	enum { N = 5000, N_PROCESSES = 250 };
	struct jit_files jit[N_PROCESSES];
	_cleanup_(interval_freep) struct interval *i = make_interval(4 << 20);
	struct frame_ref frames[N];

	(void)state;
	for (size_t p = 0; p < N_PROCESSES; p++)
		jit[p] = (struct jit_files){ .n_refs = 1, .map_fd = -1, .dump_fd = -1 };
	for (uint64_t n = 0; n < N; n++)
		frames[n] = anon_frame(i, &jit[n % N_PROCESSES], n / N_PROCESSES * 64, NULL);
	for (uint64_t n = 0; n < N; n++) {
		struct jit_files *of = &jit[n % N_PROCESSES];

		assert_frame(anon_frame(i, of, n / N_PROCESSES * 64, NULL), frames[n]);
		assert_ptr_equal(interval_anon(i, frames[n])->jit, of);
		assert_int_equal(interval_anon(i, frames[n])->pc, n / N_PROCESSES * 64);
	}
	assert_int_equal(jit[0].n_refs, N / N_PROCESSES + 1);
	interval_free(TAKE_PTR(i));
	assert_int_equal(jit[0].n_refs, 1);
}

/* They are paid for by the interval. */
static void test_places_ceiling(void **state)
{
	enum { BYTES = 512 << 10 };
	struct jit_files jit = { .n_refs = 1, .map_fd = -1, .dump_fd = -1 };
	_cleanup_(interval_freep) struct interval *i = make_interval(BYTES);
	struct anon_place place = { .jit = &jit };
	struct frame_ref frame = FRAME_REF_NONE;

	(void)state;
	while (interval_anon_frame(i, &place, &frame) == 0)
		place.pc++;
	assert_in_range(place.pc, 1000, BYTES / sizeof(struct anon_place));
	assert_true(i->arena.used_bytes <= BYTES);
	/* What is there stays known. */
	place.pc = 7;
	assert_int_equal(interval_anon_frame(i, &place, &frame), 0);
	assert_int_equal(interval_anon(i, frame)->pc, 7);
	interval_free(TAKE_PTR(i));
	assert_int_equal(jit.n_refs, 1);
}

/* What another series has, too, counts there: whatever happens to either, each sample is counted once. */
static void test_again(void **state)
{
	const struct frame_ref frame = kernel_frame(FN(1));
	const int64_t value = 7;
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20),
						  *next = make_interval(1 << 20);
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	struct samples one = {
		.labels = web, .values = &value, .frames = &frame, .n_kernel = 1, .count = 3
	};
	bool is_new;
	uint64_t n = 0;

	(void)state;
	assert_int_equal(interval_add(i, &one, &is_new), 0);
	one.event = EVENT_WALL;
	one.source = EVENT_SOURCE_WALL;
	one.n_again = 2;
	assert_int_equal(interval_add(i, &one, &is_new), 0);
	assert_int_equal(i->n_samples, 4);
	struct series *wall = interval_series(i, web, EVENT_SOURCE_WALL);
	assert_int_equal(wall->n_samples, 3);
	assert_int_equal(wall->n_again, 2);
	assert_ptr_equal(i->last, wall->stacks);
	assert_int_equal(interval_carry(next, i, wall, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(next->n_samples, 1);
	assert_int_equal(next->series->n_samples, 3);
	assert_int_equal(interval_drop(i, wall), 1);
	assert_int_equal(i->n_samples, 3);
	/* Taken back: what is there is as if it had never been added. */
	one.labels = web;
	one.count = -one.count;
	one.n_again = -one.n_again;
	assert_int_equal(interval_add(next, &one, &is_new), 0);
	assert_int_equal(next->n_samples, 0);
	assert_int_equal(next->series->n_samples, 0);
}

static const struct unit_test tests[] = {
	TEST(test_again),
	TEST(test_relabel),
	TEST(test_events),
	TEST(test_values__saturate),
	TEST(test_drop),
	TEST(test_carry),
	TEST(test_carry_stack),
	TEST(test_carry_without_room),
	TEST(test_equal_stacks_merge),
	TEST(test_unlike_stacks_do_not),
	TEST(test_series_by_pointer_and_by_equality),
	TEST(test_name_of_a_series),
	TEST(test_ten_thousand_stacks),
	TEST(test_memory_ceiling),
	TEST(test_no_memory_at_all),
	TEST_WITH(test_files, context_setup, context_teardown),
	TEST(test_places_without_a_file),
	TEST(test_moments),
	TEST(test_no_time_twice),
	TEST(test_many_places),
	TEST(test_places_ceiling),
};

TEST_MAIN(tests)

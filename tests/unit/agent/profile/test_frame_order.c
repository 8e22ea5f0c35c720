/* SPDX-License-Identifier: Apache-2.0 */
/* Frames in files come out in order, each once, however often they were there. */
#include "tests/support/unit.h"
#include "tests/unit/agent/profile/context.h"

#include "agent/profile/frame_order.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

#define DEPTH 100

struct fixture {
	struct interval *interval;
	struct labels *labels;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	f->labels = make_service("web");
	return interval_new(PERIOD_NS, (size_t)4 << 20, &f->interval);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	interval_free(f->interval);
	labels_unref(f->labels);
	free(f);
	return 0;
}

static void add_stack(struct fixture *f, const struct frame_ref *user, size_t n)
{
	bool is_new;

	assert_int_equal(
		add_sample(f->interval, f->labels, NO_FRAMES, 0, user, (uint16_t)n, &is_new), 0);
}

static void check_order(const struct frame_order *o)
{
	for (size_t i = 0; i < o->n; i++) {
		assert_true(frame_ref_file_id(o->items[i]) > 0);
		assert_true(i == 0 || o->items[i - 1].word < o->items[i].word);
	}
}

static void test_each_once(void **state)
{
	struct fixture *f = *state;
	struct frame_order o;

	for (uint32_t i = 0; i < 300; i++) {
		const struct frame_ref user[] = {
			frame_ref_of_file(1 + i % 3, 0x1000 + i % 50),
			frame_ref_of(FRAME_KIND_UNKNOWN, i),
			frame_ref_of_file(9 - i % 7, i),
			frame_ref_of_file(4, 0x10),
		};

		add_stack(f, user, ARRAY_SIZE(user));
	}
	assert_int_equal(frame_order_init(&o, 4096 * sizeof(struct frame_ref)), 0);
	frame_order_collect(&o, f->interval);
	check_order(&o);
	/* 150 pairs of 3 files and 50 places, 300 places of their own, of which none is one of the former, and one. */
	assert_int_equal(o.n, 150 + 300 + 1);
	frame_order_fini(&o);
	frame_order_fini(&o);
}

static uint64_t slot_of(struct frame_ref frame)
{
	return hash_u64(frame.word) >> (64 - FRAME_ORDER_SEEN_BITS);
}

/* Two that are remembered at the same place: neither is known when it comes again. */
static void add_alternating(struct fixture *f, unsigned int n_stacks)
{
	struct frame_ref pair[2] = { frame_ref_of_file(2, 1), frame_ref_of_file(2, 2) };
	struct frame_ref user[DEPTH];

	for (uint64_t off = 3; slot_of(pair[1]) != slot_of(pair[0]); off++)
		pair[1] = frame_ref_of_file(2, off);
	for (size_t i = 0; i < DEPTH; i++)
		user[i] = pair[i % 2];
	for (unsigned int i = 0; i < n_stacks; i++)
		add_stack(f, user, DEPTH - i);
}

/* What comes over and over takes nobody's place, whether it is noticed at once or when there is no room left. */
static void test_recursion_leaves_room(void **state)
{
	struct fixture *f = *state;
	struct frame_ref other = frame_ref_of_file(1, 7);
	struct frame_order o;

	/* The list begins with what was added last. */
	add_stack(f, &other, 1);
	add_alternating(f, 5);
	assert_int_equal(frame_order_init(&o, 64 * sizeof(struct frame_ref)), 0);
	frame_order_collect(&o, f->interval);
	check_order(&o);
	assert_int_equal(o.n, 3);
	assert_true(frame_ref_equal(o.items[0], other));
	frame_order_fini(&o);
}

static void test_no_more_than_there_is_room_for(void **state)
{
	struct fixture *f = *state;
	struct frame_order o;

	for (uint32_t i = 0; i < 1000; i++) {
		struct frame_ref frame = frame_ref_of_file(1, i);

		add_stack(f, &frame, 1);
	}
	for (size_t n = 0; n <= 128; n += 32) {
		assert_int_equal(frame_order_init(&o, n * sizeof(struct frame_ref)), 0);
		frame_order_collect(&o, f->interval);
		check_order(&o);
		assert_int_equal(o.n, n);
		frame_order_fini(&o);
	}
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_each_once),
	FIXTURE_TEST(test_recursion_leaves_room),
	FIXTURE_TEST(test_no_more_than_there_is_room_for),
};

TEST_MAIN(tests)

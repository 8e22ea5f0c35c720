/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of runtimes in an interval: each once, in the next one too, and by their names. */
#include "tests/unit/agent/profile/context.h"

#include <errno.h>

#include "tests/support/assert_frame.h"

static struct code_names *make_names(void)
{
	struct code_names *names = NULL;

	assert_int_equal(code_names_new((size_t)1 << 20, NULL, &names), 0);
	return names;
}

/* A reference. */
static struct code_name *make_name(struct code_names *names, const char *function)
{
	const struct code_text text = { .name = function,
					.n_name = strlen(function),
					.file = "app.py",
					.n_file = 6,
					.line = 10 };
	struct code_name *name = code_names_intern(names, &text);

	assert_non_null(name);
	return name;
}

static struct interval *make_interval(size_t max_bytes)
{
	struct interval *i = NULL;

	assert_int_equal(interval_new(PERIOD_NS, max_bytes, &i), 0);
	return i;
}

static struct frame_ref code_frame_at(struct interval *i, struct code_name *name, uint32_t line,
				      uint32_t column)
{
	const struct code_place place = { name, line, column };
	struct frame_ref frame = FRAME_REF_NONE;

	assert_int_equal(interval_code_frame(i, &place, &frame), 0);
	assert_int_equal(frame_ref_kind(frame), FRAME_KIND_CODE);
	return frame;
}

static struct frame_ref code_frame(struct interval *i, struct code_name *name, uint32_t line)
{
	return code_frame_at(i, name, line, 0);
}

static void test_equal_ones_are_one(void **state)
{
	_cleanup_(code_names_freep) struct code_names *names = make_names();
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	struct code_name *f = make_name(names, "f"), *g = make_name(names, "g");

	(void)state;
	struct frame_ref first = code_frame(i, f, 12);
	assert_frame(code_frame(i, f, 12), first);
	assert_false(frame_ref_equal(code_frame(i, f, 13), first));
	assert_false(frame_ref_equal(code_frame(i, f, 0), first));
	assert_false(frame_ref_equal(code_frame(i, g, 12), first));
	assert_false(frame_ref_equal(code_frame_at(i, f, 12, 3), first));
	assert_int_equal(interval_code(i, code_frame_at(i, f, 12, 3))->column, 3);
	assert_int_equal(i->code.places.n, 5);
	assert_frame(code_frame(i, f, 12), first);
	assert_ptr_equal(interval_code(i, first)->name, f);
	assert_int_equal(interval_code(i, first)->line, 12);
	/* One for each place, and none for what was there. */
	assert_int_equal(f->n_refs, 1 + 4);
	assert_int_equal(g->n_refs, 1 + 1);
	interval_free(TAKE_PTR(i));
	assert_int_equal(f->n_refs, 1);
	assert_int_equal(g->n_refs, 1);
	code_name_unref(f);
	code_name_unref(g);
	assert_int_equal(code_names_bytes(names), 0);
}

/* The same number of another kind is none. */
static void test_other_frames_are_none(void **state)
{
	_cleanup_(code_names_freep) struct code_names *names = make_names();
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	struct code_name *f = make_name(names, "f");

	(void)state;
	assert_null(interval_code(i, frame_ref_of(FRAME_KIND_CODE, 0)));
	struct frame_ref frame = code_frame(i, f, 12);
	code_name_unref(f);
	for (int kind = 0; kind <= FRAME_KIND_MAX; kind++)
		assert_true(!interval_code(i, frame_ref_of(kind, frame_ref_value(frame))) ==
			    (kind != FRAME_KIND_CODE));
	assert_null(interval_code(i, FRAME_REF_NONE));
	assert_null(interval_anon(i, frame));
	assert_null(interval_file(i, frame_ref_file_id(frame)));
	assert_null(interval_code(i, frame_ref_of(FRAME_KIND_CODE, 1)));
	assert_null(interval_code(i, frame_ref_of(FRAME_KIND_CODE, FRAME_REF_VALUE_MASK)));
}

/* The table of names may be gone before the interval that speaks of them. */
static void test_names_outlive_their_table(void **state)
{
	struct code_names *names = make_names();
	_cleanup_(interval_freep) struct interval *i = make_interval(1 << 20);
	struct code_name *f = make_name(names, "f");
	struct frame_ref frame = code_frame(i, f, 12);

	(void)state;
	code_name_unref(f);
	code_names_free(names);
	assert_string_equal(interval_code(i, frame)->name->function, "f");
}

static void test_many(void **state)
{
	enum { N = 5000, N_NAMES = 50 };
	_cleanup_(code_names_freep) struct code_names *names = make_names();
	_cleanup_(interval_freep) struct interval *i = make_interval(4 << 20);
	struct code_name *by_number[N_NAMES];
	struct frame_ref frames[N];

	(void)state;
	for (unsigned int n = 0; n < N_NAMES; n++) {
		char function[16];

		(void)snprintf(function, sizeof(function), "f%u", n);
		by_number[n] = make_name(names, function);
	}
	for (uint32_t n = 0; n < N; n++)
		frames[n] = code_frame(i, by_number[n % N_NAMES], n / N_NAMES);
	assert_int_equal(i->code.places.n, N);
	for (uint32_t n = 0; n < N; n++) {
		assert_frame(code_frame(i, by_number[n % N_NAMES], n / N_NAMES), frames[n]);
		assert_ptr_equal(interval_code(i, frames[n])->name, by_number[n % N_NAMES]);
		assert_int_equal(interval_code(i, frames[n])->line, n / N_NAMES);
	}
	assert_int_equal(by_number[0]->n_refs, 1 + N / N_NAMES);
	for (unsigned int n = 0; n < N_NAMES; n++)
		code_name_unref(by_number[n]);
	interval_free(TAKE_PTR(i));
	assert_int_equal(code_names_bytes(names), 0);
}

/* They are paid for by the interval. */
static void test_ceiling(void **state)
{
	enum { BYTES = 512 << 10 };
	_cleanup_(code_names_freep) struct code_names *names = make_names();
	_cleanup_(interval_freep) struct interval *i = make_interval(BYTES);
	struct code_name *f = make_name(names, "f");
	struct code_place place = { .name = f };
	struct frame_ref frame = FRAME_REF_NONE;

	(void)state;
	while (interval_code_frame(i, &place, &frame) == 0)
		place.line++;
	assert_int_equal(interval_code_frame(i, &place, &frame), -ENOMEM);
	assert_in_range(place.line, 1000, BYTES / sizeof(struct code_place));
	assert_true(i->arena.used_bytes <= BYTES);
	assert_int_equal(f->n_refs, 1 + place.line);
	/* What is there stays known. */
	assert_int_equal(interval_code(i, code_frame(i, f, 7))->line, 7);
	interval_free(TAKE_PTR(i));
	assert_int_equal(f->n_refs, 1);
	code_name_unref(f);
}

/* So is what they are called, which the interval holds: a process may have any number of long names. */
static void test_ceiling_of_names(void **state)
{
	enum { BYTES = 512 << 10, MAX_NAMES = 100000 };
	_cleanup_(code_names_freep) struct code_names *names = make_names();
	_cleanup_(interval_freep) struct interval *i = make_interval(BYTES);
	char function[500];
	int r = 0;

	(void)state;
	memset(function, 'x', sizeof(function));
	for (int n = 0; r == 0 && n < MAX_NAMES; n++) {
		(void)snprintf(&function[400], sizeof(function) - 400, "%099d", n);
		struct code_name *name = make_name(names, function);
		const struct code_place place = { .name = name };
		struct frame_ref frame;

		r = interval_code_frame(i, &place, &frame);
		code_name_unref(name);
	}
	size_t held = code_names_bytes(names);
	interval_free(TAKE_PTR(i));
	assert_int_equal(r, -ENOMEM);
	assert_in_range(held, BYTES / 8, BYTES);
}

static void test_carry(void **state)
{
	_cleanup_(code_names_freep) struct code_names *names = make_names();
	_cleanup_(interval_freep) struct interval *from = make_interval(1 << 20);
	_cleanup_(interval_freep) struct interval *to = make_interval(1 << 20);
	_cleanup_(labels_unrefp) struct labels *web = make_service("web");
	struct code_name *f = make_name(names, "f"), *g = make_name(names, "g");
	const struct frame_ref user[] = { code_frame(from, f, 12), code_frame(from, g, 20) };
	uint64_t n = 0;
	bool is_new;

	(void)state;
	/* The number of the function is another one there. */
	struct frame_ref elsewhere = code_frame(to, g, 30);
	assert_frame(elsewhere, user[0]);
	assert_int_equal(add_sample(from, web, NO_FRAMES, 0, user, 2, &is_new), 0);
	assert_int_equal(interval_carry(to, from, interval_series(from, web, 0), &n), 0);
	assert_int_equal(n, 1);
	interval_free(TAKE_PTR(from));
	const struct stack *s = interval_series(to, web, 0)->stacks;
	assert_int_equal(s->n_user, 2);
	assert_ptr_equal(interval_code(to, s->frames[0])->name, f);
	assert_int_equal(interval_code(to, s->frames[0])->line, 12);
	assert_ptr_equal(interval_code(to, s->frames[1])->name, g);
	assert_int_equal(interval_code(to, s->frames[1])->line, 20);
	assert_int_equal(to->code.places.n, 3);
	assert_int_equal(f->n_refs, 1 + 1);
	assert_int_equal(g->n_refs, 1 + 2);
	code_name_unref(f);
	code_name_unref(g);
}

static void test_named(void **state)
{
	struct context *w = *state;
	_cleanup_(code_names_freep) struct code_names *names = make_names();
	struct code_name *f = make_name(names, "Shop.f");
	const uint64_t kernel[] = { FN(3) };
	const struct frame_ref user[] = { code_frame(w->interval, f, 12),
					  code_frame(w->interval, f, 0), UNKNOWN,
					  frame_ref_of(FRAME_KIND_CODE, 4711),
					  frame_ref_of(FRAME_KIND_RUNTIME, 0) };
	struct named_stack named;

	code_name_unref(f);
	context_add(w, w->web, kernel, 1, user, ARRAY_SIZE(user), 1);
	namer_name_all(w->namer);
	assert_int_equal(namer_stack(w->namer, w->interval->series->stacks, &named), 0);
	assert_int_equal(named.n, 1 + ARRAY_SIZE(user));
	for (uint32_t i = 1; i < named.n; i++)
		assert_int_equal(named.items[i]->n, 1);
	assert_string_equal(named.items[0]->items[0].function, "fn003");
	assert_string_equal(named.items[1]->items[0].function, "Shop.f");
	assert_string_equal(named.items[1]->items[0].file, "app.py");
	assert_int_equal(named.items[1]->items[0].line, 12);
	assert_string_equal(named.items[2]->items[0].function, "Shop.f");
	assert_int_equal(named.items[2]->items[0].line, 0);
	/* What no function has is not known, and no frame of an interval is a sample's. */
	for (uint32_t i = 4; i < named.n; i++)
		assert_string_equal(named.items[i]->items[0].function,
				    named.items[3]->items[0].function);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_ones_are_one),
		cmocka_unit_test(test_other_frames_are_none),
		cmocka_unit_test(test_names_outlive_their_table),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_ceiling_of_names),
		cmocka_unit_test(test_carry),
		cmocka_unit_test_setup_teardown(test_named, context_setup, context_teardown),
	};

	return cmocka_run_group_tests_name("agent/profile/code_frames", tests, NULL, NULL);
}

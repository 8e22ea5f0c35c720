/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of one program follow each other, and none is lost. */
#include <stdlib.h>

#include "agent/profile/stack_order.h"
#include "agent/util/hash.h"
#include "bpf/wire.h"
#include "tests/support/unit.h"

#define N_PROGRAMS 7

static struct frame_ref frame_in(uint32_t file)
{
	return frame_ref_of_file(file, 0x10);
}

/* A library innermost, the program outermost. */
static struct stack *stack_new(uint32_t program, uint64_t serial, struct stack *next)
{
	struct stack *s = calloc(1, sizeof(*s) + 3 * sizeof(struct frame_ref));

	assert_non_null(s);
	s->count = serial;
	s->next = next;
	s->n_kernel = 1;
	s->n_user = program ? 2 : 0;
	s->frames[0] = frame_ref_of(FRAME_KIND_KERNEL, 0xffffffff81000000);
	s->frames[1] = frame_in(N_PROGRAMS + 1);
	s->frames[2] = frame_in(program);
	return s;
}

static uint32_t program_of(const struct stack *s)
{
	return s->n_user ? frame_ref_file_id(s->frames[2]) : 0;
}

static void check(uint64_t n)
{
	struct stack *stacks = NULL;
	const struct stack *before = NULL;
	uint64_t seen = 0;

	for (uint64_t i = n; i > 0; i--)
		stacks = stack_new((uint32_t)(hash_u64(i) % N_PROGRAMS), i, stacks);
	stacks = stack_order_by_program(stacks);
	for (struct stack *next, *s = stacks; s; s = next) {
		next = s->next;
		if (before) {
			assert_true(program_of(before) <= program_of(s));
			/* Equal ones as they were. */
			if (program_of(before) == program_of(s))
				assert_true(before->count < s->count);
			free((void *)before);
		}
		before = s;
		seen++;
	}
	free((void *)before);
	assert_int_equal(seen, n);
}

static void they_are_in_order(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 40; n++)
		check(n);
	check(100000);
}

static const struct unit_test tests[] = {
	TEST(they_are_in_order),
};

TEST_MAIN(tests)

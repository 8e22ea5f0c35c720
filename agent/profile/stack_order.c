/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of one program after each other. */
#include "agent/profile/stack_order.h"

#include "agent/unwind/user_stack.h"

/* 0: none, or in no file. */
static uint32_t program_of(const struct stack *s)
{
	return s->n_user > 0 ? frame_ref_file_id(s->frames[s->n_kernel + s->n_user - 1]) : 0;
}

/* The second half of at least two. */
static struct stack *split(struct stack *stacks)
{
	struct stack *slow = stacks;

	for (struct stack *fast = stacks->next; fast && fast->next; fast = fast->next->next)
		slow = slow->next;
	struct stack *half = slow->next;
	slow->next = NULL;
	return half;
}

static struct stack *merge(struct stack *a, struct stack *b)
{
	struct stack *first = NULL;
	struct stack **end = &first;

	while (a && b) {
		struct stack **less = program_of(a) <= program_of(b) ? &a : &b;

		*end = *less;
		end = &(*less)->next;
		*less = *end;
	}
	*end = a ? a : b;
	return first;
}

/* As deep as the number has bits. */
struct stack *stack_order_by_program(struct stack *stacks)
{
	if (!stacks || !stacks->next)
		return stacks;
	struct stack *half = split(stacks);
	stacks = stack_order_by_program(stacks);
	return merge(stacks, stack_order_by_program(half));
}

void stack_order_interval(struct interval *i)
{
	for (struct series *s = i->series; s; s = s->next)
		s->stacks = stack_order_by_program(s->stacks);
}

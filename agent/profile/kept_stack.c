/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/profile/kept_stack.h"

#include "agent/util/macro.h"

void kept_stack_look(struct kept_stack *k)
{
	labels_unref(k->labels);
	k->labels = k->stack ? labels_ref(k->stack->series->labels) : NULL;
}

/* None: nobody wants it. */
static struct labels *labels_of(const struct kept_stack *k, const struct interval *next)
{
	const struct series *series = k->stack ? k->stack->series : NULL;

	if (!series || series->labels)
		return series ? series->labels : NULL;
	return k->labels && interval_series(next, k->labels, series->source) ? k->labels : NULL;
}

int kept_stack_carry(struct kept_stack *k, const struct interval *from, struct interval *next)
{
	struct labels *labels = labels_of(k, next);
	int r = 0;

	if (labels)
		r = interval_carry_stack(next, from, k->stack, labels, &k->stack);
	else
		k->stack = NULL;
	labels_unref(TAKE_PTR(k->labels));
	return r;
}

void kept_stack_fini(struct kept_stack *k)
{
	labels_unref(k->labels);
	*k = (struct kept_stack){ 0 };
}

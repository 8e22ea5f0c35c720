/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack of the open interval that values come to later: of what is under way. It goes from interval to interval.
 *
 *	kept_stack_look (an interval is about to close) ──► its series are settled ──► kept_stack_carry
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_PROFILE_KEPT_STACK_H
#define XAGENT_AGENT_PROFILE_KEPT_STACK_H

#include "agent/profile/interval.h"

struct kept_stack {
	struct stack *stack;   /* of the open interval; NULL: nobody wants it */
	struct labels *labels; /* a reference, between the two */
};

/* The labels that its series has. */
void kept_stack_look(struct kept_stack *k);
/* It is `next`'s, under the labels that its series has by now; where the series has moved to that interval, those that it had. 0; -ENOMEM: what comes from now on is not told. */
int kept_stack_carry(struct kept_stack *k, const struct interval *from, struct interval *next);
void kept_stack_fini(struct kept_stack *k);

#endif

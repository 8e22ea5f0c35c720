/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which stacks are named: those of one program after each other, by the file of the outermost frame, in the order of files' ids.
 * What a program's stacks have in common is then named once, however little of it all there is room for (naming.h). Pure.
 */
#ifndef XAGENT_AGENT_PROFILE_STACK_ORDER_H
#define XAGENT_AGENT_PROFILE_STACK_ORDER_H

#include "agent/profile/interval.h"

/* Takes and returns a list; equal ones keep their order. */
struct stack *stack_order_by_program(struct stack *stacks);
/* All series of an interval. */
void stack_order_interval(struct interval *i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What reading one request may cost. */
#include "agent/store/ingest/read_budget.h"

#include "agent/util/clock.h"

/* A look at the thread's clock is a system call of some 200 ns. */
#define TURNS_A_LOOK 256

void read_budget_init(struct read_budget *b, const struct read_budget_options *options)
{
	*b = (struct read_budget){ .left = *options, .timed = options->cpu_ns > 0 };
}

void read_budget_begin(struct read_budget *b)
{
	if (b->timed)
		b->begin_cpu_ns = clock_thread_ns();
}

void read_budget_end(struct read_budget *b)
{
	if (!b->timed)
		return;
	uint64_t took_ns = clock_thread_ns() - b->begin_cpu_ns;

	b->left.cpu_ns -= took_ns < b->left.cpu_ns ? took_ns : b->left.cpu_ns;
}

static bool spend(struct read_budget *b, enum read_budget_state what)
{
	if (b->state == READ_BUDGET_LEFT)
		b->state = what;
	return false;
}

static bool take(struct read_budget *b, size_t *left, size_t n, enum read_budget_state what)
{
	if (b->state != READ_BUDGET_LEFT || n > *left)
		return spend(b, what);
	*left -= n;
	return true;
}

bool read_budget_take_inflated(struct read_budget *b, size_t n)
{
	return take(b, &b->left.inflated_bytes, n, READ_BUDGET_INFLATED);
}

bool read_budget_take_elements(struct read_budget *b, size_t n)
{
	return take(b, &b->left.elements, n, READ_BUDGET_ELEMENTS);
}

bool read_budget_goes_on_now(struct read_budget *b)
{
	if (b->left.stop && atomic_load_explicit(b->left.stop, memory_order_relaxed))
		return spend(b, READ_BUDGET_STOPPED);
	if (b->timed && clock_thread_ns() - b->begin_cpu_ns >= b->left.cpu_ns)
		return spend(b, READ_BUDGET_TIME);
	return b->state == READ_BUDGET_LEFT;
}

bool read_budget_goes_on(struct read_budget *b)
{
	return b->n_looks++ % TURNS_A_LOOK ? b->state == READ_BUDGET_LEFT
					   : read_budget_goes_on_now(b);
}

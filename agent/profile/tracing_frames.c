/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/profile/tracing_frames.h"

#include <string.h>

#include "agent/util/macro.h"

bool tracing_function(const char *function)
{
	/* kernel/trace/bpf_trace.c, kernel/bpf/trampoline.c, and the names of programs in kernel/bpf/core.c */
	static const char *const begins[] = {
		"__traceiter_",	 "__bpf_trace_", "bpf_trace_run", "bpf_trampoline_",
		"__bpf_prog_enter", "__bpf_prog_exit", "bpf_prog_",
	};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (strncmp(function, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static bool is_kernel(const struct named *named)
{
	return frame_ref_kind(named->frame) == FRAME_KIND_KERNEL;
}

static bool is_tracing(const struct named *named)
{
	return is_kernel(named) && tracing_function(named->items[0].function);
}

static void drop(struct named_stack *named, uint32_t from, uint32_t n)
{
	memmove(named->items + from, named->items + from + n,
		(named->n - from - n) * sizeof(named->items[0]));
	named->n -= n;
}

/* Behind the frames that are no function, such as what a wait is for. */
static void drop_own(struct named_stack *named)
{
	uint32_t first = named->leaf, n = 0;

	while (first < named->n && !is_kernel(named->items[first]))
		first++;
	while (first + n < named->n && is_tracing(named->items[first + n]))
		n++;
	if (n < named->n) /* a stack of nothing else stays as it is */
		drop(named, first, n);
}

/* Next to its name, which is before the leaf. */
static void drop_waker(struct named_stack *named)
{
	uint32_t n = 0;

	while (named->leaf > n + 1 && is_tracing(named->items[named->leaf - 2 - n]))
		n++;
	if (n == 0)
		return;
	drop(named, named->leaf - 1 - n, n);
	named->leaf -= n;
}

void tracing_frames_drop(struct named_stack *named)
{
	drop_own(named);
	drop_waker(named);
}

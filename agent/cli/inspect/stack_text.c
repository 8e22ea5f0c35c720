/* SPDX-License-Identifier: Apache-2.0 */
/* How stacks are shown to people. */
#include "agent/cli/inspect/stack_text.h"

#include <inttypes.h>

void stack_text_thread(struct buf *out, uint32_t tid, const char *name)
{
	(void)buf_printf(out, "thread %" PRIu32 " %s\n", tid, name[0] ? name : "?");
}

static int n_digits(size_t i)
{
	int n = 1;

	for (; i >= 10; i /= 10)
		n++;
	return n;
}

void stack_text_frame(struct buf *out, size_t i, size_t n, uint64_t pc, const char *function,
		      const char *object)
{
	int indent = n_digits(n > 0 ? n - 1 : 0) - n_digits(i);

	(void)buf_printf(out, "%*s#%zu  0x%016" PRIx64 " %s", indent, "", i, pc, function);
	if (object)
		(void)buf_printf(out, " (%s)", object);
	(void)buf_append_char(out, '\n');
}

void stack_text_end(struct buf *out, enum stop_reason end)
{
	static const char *const markers[STOP_REASON_MAX] = {
#define END_MARKER(name, complete, frame, text) [STOP_REASON_##name] = (frame),
		STOP_REASONS(END_MARKER)
#undef END_MARKER
	};

	if (end < STOP_REASON_MAX && markers[end][0])
		(void)buf_printf(out, "%s\n", markers[end]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An event in words. */
#include "agent/sample/event_text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/sample/tracepoint_name.h"
#include "agent/util/str.h"

static int parse_source(enum event event, const char *source, struct event_text *ret_event)
{
	_cleanup_buf_ struct buf why = BUF_INIT(256);
	struct tracepoint_name name;

	if (event != EVENT_TRACEPOINT || tracepoint_name_parse(source, &name, &why) < 0)
		return -EINVAL;
	*ret_event = (struct event_text){ event, source };
	return 0;
}

int event_text_parse(const char *text, struct event_text *ret_event)
{
	size_t n = strcspn(text, ":");

	for (enum event e = 0; e < EVENT_MAX; e++) {
		const char *name = event_type(e)->name;

		if (strlen(name) != n || strncmp(name, text, n) != 0)
			continue;
		if (text[n])
			return parse_source(e, text + n + 1, ret_event);
		*ret_event = (struct event_text){ e, NULL };
		return e == EVENT_TRACEPOINT ? -EINVAL : 0;
	}
	return -EINVAL;
}

void event_text_what(const struct event_text *e, struct buf *out)
{
	static const char *const what[EVENT_MAX] = {
		[EVENT_CPU] = "CPU time",
		[EVENT_OFF_CPU] = "Off-CPU time",
		[EVENT_LOCKS] = "Waits for locks",
		[EVENT_FAULTS] = "Page faults",
		[EVENT_RUN_QUEUE] = "Waits for a CPU",
		[EVENT_SYSCALLS] = "System calls",
		[EVENT_TCP] = "TCP connections",
		[EVENT_WALL] = "Wall-clock time",
	};

	assert(e->event != EVENT_TRACEPOINT || e->source);
	if (what[e->event])
		(void)buf_append_str(out, what[e->event]);
	else
		(void)buf_printf(out, "%s of %s", event_text_unit(e, 0), e->source);
}

void event_text_rate(const struct event_text *e, const char *before, uint32_t hz, struct buf *out)
{
	if (event_has_ticks(e->event))
		(void)buf_printf(out, "%s%" PRIu32 " Hz", before, hz);
}

const char *event_text_unit(const struct event_text *e, uint64_t n)
{
	const char *unit = event_type(e->event)->values[0].unit;

	if (e->event == EVENT_CPU)
		return n == 1 ? "sample" : "samples";
	if (strcmp(unit, "count") == 0)
		return n == 1 ? "hit" : "hits";
	return n == 1 && strcmp(unit, "bytes") == 0 ? "byte" : unit;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An event as the command line names it, and as people read of it. Pure. */
#ifndef XAGENT_AGENT_SAMPLE_EVENT_TEXT_H
#define XAGENT_AGENT_SAMPLE_EVENT_TEXT_H

#include <stdint.h>

#include "agent/sample/event.h"
#include "agent/util/buf.h"

/* What there is to be named, in the words of an error. */
#define EVENT_TEXT_NAMES \
	"cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, or tracepoint:GROUP:NAME"

struct event_text {
	enum event event;
	const char *
		source; /* of a tracepoint "group:name"; NULL: the event has only one source. Borrowed */
};

/* "cpu", "tracepoint:syscalls:sys_enter_read". 0 or -EINVAL. */
int event_text_parse(const char *text, struct event_text *ret_event);

/* "CPU time", "hits of syscalls:sys_enter_read"; of an event whose first value is in bytes "bytes of …". */
void event_text_what(const struct event_text *e, struct buf *out);
/* ", 97 Hz" with `before` ", "; nothing where no rate is. */
void event_text_rate(const struct event_text *e, const char *before, uint32_t hz, struct buf *out);
/* What `n` are of that which stack_weight() adds up: "sample", "hits", "bytes". */
const char *event_text_unit(const struct event_text *e, uint64_t n);

#endif

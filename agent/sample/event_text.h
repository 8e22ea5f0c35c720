/* SPDX-License-Identifier: Apache-2.0 */
/* Events as the command line names them, and as people read of them. Pure. */
#ifndef XAGENT_AGENT_SAMPLE_EVENT_TEXT_H
#define XAGENT_AGENT_SAMPLE_EVENT_TEXT_H

#include <stdint.h>

#include "agent/sample/event.h"
#include "agent/util/buf.h"
#include "agent/util/cleanup.h"

/* What there is to be named, in the words of an error. */
#define EVENT_TEXT_NAMES \
	"cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, block_io, rss, or tracepoint:GROUP:NAME"

struct event_text {
	enum event event;
	const char *
		source; /* of a tracepoint "group:name"; NULL: the event has only one source. Borrowed */
};

/* "cpu", "tracepoint:syscalls:sys_enter_read". 0 or -EINVAL. */
int event_text_parse(const char *text, struct event_text *ret_event);

#define EVENT_LIST_MAX (EVENT_MAX + EVENT_MAX_TRACEPOINTS)

/* Several, each once, in the order in which they were named. Of zeroes: none. */
struct event_list {
	struct event_text items[EVENT_LIST_MAX];
	size_t n;
	char *sources[EVENT_MAX_TRACEPOINTS]; /* owned: those of the items, in their order */
	size_t n_sources;
};

/* "cpu,off_cpu,tracepoint:syscalls:sys_enter_read": behind those that are there. 0, -EINVAL, -E2BIG: there is no room for so many tracepoints, or
 * -ENOMEM; what came before stays. */
int event_list_parse(const char *text, struct event_list *list);
void event_list_fini(struct event_list *list);
#define _cleanup_event_list_ _cleanup_(event_list_fini)

bool event_list_has(const struct event_list *list, enum event event);
/* Timer ticks are among them, or another than those. */
bool event_list_has_ticks(const struct event_list *list);
bool event_list_has_others(const struct event_list *list);
/* Of a series: of which item it is, by its event and source (bpf/events.h); list->n: of none. */
size_t event_list_find(const struct event_list *list, enum event event, uint16_t source);

/* "off_cpu", "syscalls.sys_enter_read": a part of a file's name. */
void event_text_file_part(const struct event_text *e, struct buf *out);
/* "CPU time", "hits of syscalls:sys_enter_read"; of an event whose first value is in bytes "bytes of …". */
void event_text_what(const struct event_text *e, struct buf *out);
/* ", 97 Hz" with `before` ", "; nothing where no rate is. */
void event_text_rate(const struct event_text *e, const char *before, uint32_t hz, struct buf *out);
/* What `n` are of that which stack_weight() adds up: "sample", "hits", "bytes". */
const char *event_text_unit(const struct event_text *e, uint64_t n);

#endif

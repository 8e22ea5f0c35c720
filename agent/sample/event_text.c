/* SPDX-License-Identifier: Apache-2.0 */
/* Events in words. */
#include "agent/sample/event_text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
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

static bool is_same(const struct event_text *a, const struct event_text *b)
{
	return a->event == b->event && (!a->source || strcmp(a->source, b->source) == 0);
}

/* The source is copied, for the text ends with the item. */
static int add_item(struct event_list *list, const struct event_text *item)
{
	char *source = NULL;

	for (size_t i = 0; i < list->n; i++)
		if (is_same(&list->items[i], item))
			return 0;
	if (item->source && list->n_sources == EVENT_MAX_TRACEPOINTS)
		return -E2BIG;
	if (item->source) {
		source = strdup(item->source);
		if (!source)
			return -ENOMEM;
		list->sources[list->n_sources++] = source;
	}
	assert(list->n < EVENT_LIST_MAX);
	list->items[list->n++] = (struct event_text){ item->event, source };
	return 0;
}

int event_list_parse(const char *text, struct event_list *list)
{
	int r = 0;

	for (const char *end; r == 0 && text; text = *end ? end + 1 : NULL) {
		struct event_text item;

		end = strchrnul(text, ',');
		_cleanup_free_ char *word = strndup(text, (size_t)(end - text));
		r = word ? event_text_parse(word, &item) : -ENOMEM;
		if (r == 0)
			r = add_item(list, &item);
	}
	return r;
}

void event_list_fini(struct event_list *list)
{
	for (size_t i = 0; i < list->n_sources; i++)
		free(list->sources[i]);
	*list = (struct event_list){ 0 };
}

bool event_list_has(const struct event_list *list, enum event event)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].event == event)
			return true;
	return false;
}

bool event_list_has_ticks(const struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (event_has_ticks(list->items[i].event))
			return true;
	return false;
}

bool event_list_has_others(const struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].event != EVENT_CPU)
			return true;
	return false;
}

/* Tracepoints are numbered as they are named, from 1 on. */
size_t event_list_find(const struct event_list *list, enum event event, uint16_t source)
{
	const char *tracepoint =
		event == EVENT_TRACEPOINT && source > 0 && source <= list->n_sources
			? list->sources[source - 1]
			: NULL;
	size_t i = 0;

	while (i < list->n &&
	       (list->items[i].event != event || list->items[i].source != tracepoint))
		i++;
	return i;
}

void event_text_file_part(const struct event_text *e, struct buf *out)
{
	if (!e->source) {
		(void)buf_append_str(out, event_type(e->event)->name);
		return;
	}
	for (const char *c = e->source; *c; c++)
		(void)buf_append_char(out, *c == ':' ? '.' : *c);
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
		[EVENT_BLOCK_IO] = "Block I/O",
		[EVENT_RSS] = "Growth of resident memory",
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

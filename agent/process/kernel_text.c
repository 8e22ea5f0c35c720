/* SPDX-License-Identifier: Apache-2.0 */
/* Code that has come and gone in the kernel. */
#include "agent/process/kernel_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

void kernel_text_init(struct kernel_text *text)
{
	*text = (struct kernel_text){ .names = BUF_INIT(KERNEL_TEXT_MAX_NAMES_BYTES) };
}

void kernel_text_fini(struct kernel_text *text)
{
	free(text->items);
	buf_fini(&text->names);
	kernel_text_init(text);
}

static int reserve(struct kernel_text *text)
{
	if (text->n < text->cap)
		return 0;
	if (text->n >= KERNEL_TEXT_MAX_CHANGES)
		return -ENOBUFS;
	size_t cap = MIN_OF(text->cap * 2 + 16, (size_t)KERNEL_TEXT_MAX_CHANGES);
	struct kernel_text_change *more = reallocarray(text->items, cap, sizeof(*more));
	if (!more)
		return -ENOMEM;
	text->items = more;
	text->cap = cap;
	return 0;
}

/* As it would be read from /proc/kallsyms. */
static int add_name(struct buf *names, const char *name)
{
	size_t at = names->len;
	int r = buf_append(names, name, strnlen(name, KERNEL_TEXT_NAME_MAX - 1));

	if (r == 0)
		r = buf_append_char(names, '\0');
	if (r < 0) {
		names->len = at;
		return r;
	}
	for (size_t i = at; i + 1 < names->len; i++)
		if (names->data[i] <= ' ' || names->data[i] > '~')
			names->data[i] = '?';
	return 0;
}

void kernel_text_add(struct kernel_text *text, const struct kernel_text_change *change,
		     const char *name)
{
	size_t at = text->names.len;

	if (reserve(text) < 0 || add_name(&text->names, name) < 0) {
		text->is_incomplete = true;
		return;
	}
	text->items[text->n] = *change;
	text->items[text->n++].name = (uint32_t)at;
}

/* Equal times are of one CPU, in the order in which they were told: so are their names. */
static int compare_times(const void *va, const void *vb)
{
	const struct kernel_text_change *a = va;
	const struct kernel_text_change *b = vb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

void kernel_text_take(struct kernel_text *text, struct kernel_text *ret_text)
{
	if (text->n > 0)
		qsort(text->items, text->n, sizeof(*text->items), compare_times);
	*ret_text = *text;
	kernel_text_init(text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What is known so far of files, lines and inlined functions of one file's addresses. */
#include "agent/symbol/line_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* What malloc and the table's bucket add to an entry, about. */
#define ALLOCATION_BYTES 24
/* A path that is shown; PATH_MAX. */
#define MAX_FILE_BYTES 4096
/* Of all strings of one address. */
#define MAX_TEXT_BYTES ((size_t)256 * 1024)

void line_cache_fini(struct line_cache *c)
{
	HASH_FOREACH (&c->answers, node)
		free(CONTAINER_OF(node, struct line_answer, node));
	hash_fini(&c->answers);
	*c = (struct line_cache){ 0 };
}

const struct line_answer *line_cache_find(const struct line_cache *c, uint64_t vaddr)
{
	HASH_FOREACH_MATCH (&c->answers, hash_u64(vaddr), node) {
		const struct line_answer *a = CONTAINER_OF(node, struct line_answer, node);

		if (a->vaddr == vaddr)
			return a;
	}
	return NULL;
}

static int add_function(struct buf *text, const char *function, enum demangle_mode mode)
{
	_cleanup_buf_ struct buf name = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES + 1);
	int r = function[0] ? demangle(str_from(function), mode, &name) : 0;

	return r < 0 ? r : buf_append(text, buf_str(&name), name.len + 1);
}

/* Whole or not at all: a path that was cut would be another file's. */
static int add_file(struct buf *text, const char *file)
{
	size_t n = strnlen(file, MAX_FILE_BYTES);
	_cleanup_free_ char *shown = malloc(3 * n + 1);

	if (!shown)
		return -ENOMEM;
	str_copy_utf8(shown, 3 * n + 1, (struct str){ file, n < MAX_FILE_BYTES ? n : 0 });
	return buf_append(text, shown, strlen(shown) + 1);
}

/* One string behind the other: function, file, function … */
static int add_texts(struct buf *text, const struct source_frames *frames, enum demangle_mode mode)
{
	for (uint32_t i = 0; i < frames->n; i++) {
		int r = add_function(text, frames->items[i].function, mode);

		if (r < 0)
			return r;
		r = add_file(text, frames->items[i].file);
		if (r < 0)
			return r;
	}
	return 0;
}

static void point_into(struct line_answer *a, const struct source_frames *frames)
{
	const char *at = (const char *)&a->frames[a->n];

	for (uint32_t i = 0; i < a->n; i++) {
		a->frames[i].function = at;
		at += strlen(at) + 1;
		a->frames[i].file = at;
		at += strlen(at) + 1;
		a->frames[i].line = frames->items[i].line;
	}
	assert(at == (const char *)a + a->bytes);
}

int line_cache_add(struct line_cache *c, uint64_t vaddr, const struct source_frames *frames,
		   enum demangle_mode mode, const struct line_answer **ret_answer)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MAX_TEXT_BYTES);
	int r = add_texts(&text, frames, mode);
	uint32_t n = r == -ENOBUFS ? 0 : frames->n;
	size_t n_text = n > 0 ? text.len : 0;
	size_t bytes = sizeof(struct line_answer) + n * sizeof(struct line_frame) + n_text;

	if (r < 0 && r != -ENOBUFS)
		return r;
	_cleanup_free_ struct line_answer *a = calloc(1, bytes);
	if (!a)
		return -ENOMEM;
	a->vaddr = vaddr;
	a->bytes = (uint32_t)bytes;
	a->n = n;
	if (n_text > 0)
		memcpy(&a->frames[n], text.data, n_text);
	point_into(a, frames);
	r = hash_insert(&c->answers, &a->node, hash_u64(vaddr));
	if (r < 0)
		return r;
	c->bytes += bytes + ALLOCATION_BYTES;
	*ret_answer = TAKE_PTR(a);
	return 0;
}

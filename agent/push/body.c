/* SPDX-License-Identifier: Apache-2.0 */
/* The body of one request. */
#include "agent/push/body.h"

#include <assert.h>
#include <errno.h>

void push_body_init(struct push_body *b)
{
	*b = (struct push_body){ .own = BUF_INIT(PUSH_BODY_MAX_OWN_BYTES) };
}

void push_body_fini(struct push_body *b)
{
	buf_fini(&b->own);
}

static struct http_piece *next_piece(struct push_body *b)
{
	b->failed = b->failed || b->n_pieces == PUSH_BODY_MAX_PIECES;
	return b->failed ? NULL : &b->pieces[b->n_pieces++];
}

/* What stands between two borrowed pieces is one. */
static struct http_piece *own_piece(struct push_body *b)
{
	struct http_piece *last = b->n_pieces > 0 ? &b->pieces[b->n_pieces - 1] : NULL;

	return last && !last->data ? last : next_piece(b);
}

void push_body_add(struct push_body *b, const void *bytes, size_t n)
{
	struct http_piece *piece = n > 0 ? own_piece(b) : NULL;

	if (!piece)
		return;
	piece->n += n;
	b->n += n;
	(void)buf_append(&b->own, bytes, n);
}

void push_body_add_part(struct push_body *b, const struct shared_bytes *bytes, size_t from,
			size_t n)
{
	struct http_piece *piece = n > 0 ? next_piece(b) : NULL;

	assert(from <= bytes->n && n <= bytes->n - from);
	if (!piece)
		return;
	*piece = (struct http_piece){ bytes->data + from, n };
	b->n += n;
}

void push_body_add_shared(struct push_body *b, const struct shared_bytes *bytes)
{
	push_body_add_part(b, bytes, 0, bytes->n);
}

int push_body_close(struct push_body *b)
{
	const char *own = buf_str(&b->own);

	if (b->failed || b->own.failed)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_pieces; i++) {
		if (b->pieces[i].data)
			continue;
		b->pieces[i].data = own;
		own += b->pieces[i].n;
	}
	return 0;
}

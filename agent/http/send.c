/* SPDX-License-Identifier: Apache-2.0 */
/* What goes out: a body of several pieces of memory, as if they were one. */
#include <string.h>

#include "agent/http/request.h"
#include "agent/util/macro.h"

uint64_t request_pieces_bytes(const struct http_piece *pieces, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += pieces[i].n;
	return sum;
}

size_t request_on_read(char *room, size_t size, size_t n, void *request)
{
	struct http_request *rq = request;
	size_t n_room = size * n, done = 0;

	while (done < n_room && rq->piece < rq->n_pieces) {
		const struct http_piece *piece = &rq->pieces[rq->piece];
		size_t part = MIN_OF(n_room - done, piece->n - rq->piece_at);

		if (part > 0)
			memcpy(room + done, (const char *)piece->data + rq->piece_at, part);
		done += part;
		rq->piece_at += part;
		if (rq->piece_at == piece->n) {
			rq->piece++;
			rq->piece_at = 0;
		}
	}
	return done;
}

/* libcurl begins anew after a redirect, and on another connection when a kept one turns out to be gone: always from 0 on. */
int request_on_seek(void *request, curl_off_t offset, int origin)
{
	struct http_request *rq = request;

	if (origin != SEEK_SET || offset != 0)
		return CURL_SEEKFUNC_FAIL;
	rq->piece = rq->piece_at = 0;
	return CURL_SEEKFUNC_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of a stream: the same whether they come at once or byte by byte, and none larger than the ceiling. */
#include <assert.h>
#include <stdint.h>

#include "agent/discovery/json_stream.h"

#define MAX_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count(json_t *object, void *data)
{
	assert(json_is_object(object));
	++*(size_t *)data;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_whole = 0, n_pieces = 0;
	struct json_stream whole, pieces;
	int r = 0;

	json_stream_init(&whole, MAX_BYTES);
	json_stream_init(&pieces, MAX_BYTES);
	int expected = json_stream_feed(&whole, (const char *)data, size, count, &n_whole);
	assert(whole.line.len <= MAX_BYTES);
	for (size_t i = 0; r == 0 && i < size; i++)
		r = json_stream_feed(&pieces, (const char *)data + i, 1, count, &n_pieces);
	assert(r == expected && n_whole == n_pieces);
	json_stream_fini(&whole);
	json_stream_fini(&pieces);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of lines: pairs of a bytecode and a line, each told by how far it is from the one before. */
#include "agent/runtimes/hotspot/lines.h"

#include <stdbool.h>

#include "bpf/runtimes/hotspot.h"

/* Six bits a byte, the lowest first; from this value on there are more. */
#define HIGH 192
#define MAX_NUMBER_BYTES 5

struct reader {
	const uint8_t *at, *end;
	uint32_t excluded; /* added to each byte of a number, so that none is 0 */
};

static bool read_byte(struct reader *r, uint32_t *ret_byte)
{
	if (r->at == r->end)
		return false;
	*ret_byte = *r->at++;
	return true;
}

/* Its sign is the lowest bit. */
static bool read_number(struct reader *r, uint32_t *ret_number)
{
	uint32_t sum = 0, byte = HIGH;

	for (unsigned int i = 0; i < MAX_NUMBER_BYTES && byte >= HIGH; i++) {
		if (!read_byte(r, &byte))
			return false;
		sum += (byte - r->excluded) << (6 * i);
	}
	*ret_number = (sum >> 1) ^ (0U - (sum & 1));
	return true;
}

/* The next pair, which there are only relative numbers of. False: there is none, or the table is cut. */
static bool read_pair(struct reader *r, uint32_t *bci, uint32_t *line, bool *ret_is_whole)
{
	uint32_t byte, more_bci, more_line;

	*ret_is_whole = false;
	if (!read_byte(r, &byte))
		return false;
	*ret_is_whole = byte == 0;
	if (byte == 0)
		return false;
	more_bci = byte >> 3;
	more_line = byte & 7;
	if (byte == HOTSPOT_LINES_LONG &&
	    (!read_number(r, &more_bci) || !read_number(r, &more_line)))
		return false;
	*bci += more_bci;
	*line += more_line;
	return true;
}

uint32_t hotspot_line(const struct runtime_lines *lines, uint32_t position)
{
	struct reader r = { .at = lines->table,
			    .end = lines->table + lines->n,
			    .excluded = lines->format == HOTSPOT_LINES_20 };
	uint32_t bci = 0, line = 0, best_bci = 0, best_line = 0;
	bool is_whole = false;

	if (lines->format == HOTSPOT_NO_LINES || position == HOTSPOT_NO_BCI)
		return 0;
	/* Pairs need not ascend: of those before the position the nearest counts, of equals the last one. */
	while (read_pair(&r, &bci, &line, &is_whole)) {
		if (bci == position)
			return line;
		if (bci < position && bci >= best_bci) {
			best_bci = bci;
			best_line = line;
		}
	}
	/* What a table that is cut has no more might be nearer. */
	return is_whole ? best_line : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A perf map. */
#include "agent/symbol/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Larger than any line that is one. */
#define CHUNK_BYTES 65536

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* False when there was none. */
static bool cut_blanks(struct str *s)
{
	size_t n = 0;

	while (n < s->n && is_blank(s->p[n]))
		n++;
	*s = (struct str){ s->p + n, s->n - n };
	return n > 0;
}

static bool cut_hex(struct str *s, uint64_t *ret_value)
{
	if (str_starts_with(*s, STR_LIT("0x")) || str_starts_with(*s, STR_LIT("0X")))
		*s = (struct str){ s->p + 2, s->n - 2 };
	return str_scan_u64(s, 16, UINT64_MAX, ret_value) == 0 && cut_blanks(s);
}

bool perf_map_parse_line(struct str line, struct perf_map_line *ret_line)
{
	struct perf_map_line l;

	(void)cut_blanks(&line);
	if (!cut_hex(&line, &l.begin) || !cut_hex(&line, &l.n_bytes))
		return false;
	l.name = str_trim(line);
	if (l.name.n == 0)
		return false;
	*ret_line = l;
	return true;
}

void perf_map_init(struct perf_map *m, size_t max_bytes)
{
	*m = (struct perf_map){ 0 };
	code_ranges_init(&m->ranges, code_ranges_max_of(max_bytes));
}

void perf_map_set_max(struct perf_map *m, size_t max_bytes)
{
	code_ranges_set_max(&m->ranges, code_ranges_max_of(max_bytes));
}

void perf_map_fini(struct perf_map *m)
{
	code_ranges_fini(&m->ranges);
}

static void start_anew(struct perf_map *m)
{
	code_ranges_reset(&m->ranges);
	m->read_to = 0;
	m->in_long_line = false;
	m->n_check = 0;
}

/* Functions of long ago have often made way for those at the end. */
static void start_late(struct perf_map *m, uint64_t file_off)
{
	m->ranges.n_dropped++;
	m->read_to = file_off;
	m->in_long_line = true;
}

static bool is_same_file(const struct perf_map *m, const struct bytes *b)
{
	char now[PERF_MAP_N_CHECK];

	if (b->size < m->read_to)
		return false;
	return m->n_check == 0 || (bytes_read(b, m->read_to - m->n_check, now, m->n_check) == 0 &&
				   memcmp(now, m->check, m->n_check) == 0);
}

static void advance(struct perf_map *m, const char *chunk, size_t n)
{
	m->n_check = MIN_OF(n, (size_t)PERF_MAP_N_CHECK);
	memcpy(m->check, chunk + n - m->n_check, m->n_check);
	m->read_to += n;
}

static int take_line(struct perf_map *m, struct str line, uint64_t file_off)
{
	struct perf_map_line l;

	if (m->in_long_line) {
		m->in_long_line = false;
		return 0;
	}
	if (!perf_map_parse_line(line, &l))
		return 0;
	return code_ranges_add(&m->ranges, l.begin, l.n_bytes, file_off);
}

/* Whole lines; where not even one is, as much as is known to be too long. */
static int take_chunk(struct perf_map *m, const char *chunk, size_t n, size_t *ret_n_used)
{
	size_t used = 0;

	while (used < n) {
		const char *newline = memchr(chunk + used, '\n', n - used);

		if (!newline)
			break;
		size_t len = (size_t)(newline - (chunk + used));
		int r = take_line(m, (struct str){ chunk + used, len }, m->read_to + used);
		if (r < 0)
			return r;
		used += len + 1;
	}
	if (used == 0 && (n == CHUNK_BYTES || m->in_long_line)) {
		m->in_long_line = true;
		used = n;
	}
	*ret_n_used = used;
	return 0;
}

static int read_on(struct perf_map *m, const struct bytes *b, uint64_t max_read, uint64_t *n_read)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);

	if (!chunk)
		return -ENOMEM;
	while (m->read_to < b->size && *n_read < max_read) {
		ssize_t n = bytes_read_some(b, m->read_to, chunk, CHUNK_BYTES);
		size_t used = 0;
		int r = n < 0 ? (int)n : take_chunk(m, chunk, (size_t)n, &used);

		if (r < 0)
			return r;
		*n_read += (uint64_t)n;
		if (used == 0)
			return 0;
		advance(m, chunk, used);
	}
	return 0;
}

int perf_map_read(struct perf_map *m, const struct bytes *b, uint64_t max_read,
		  uint64_t *ret_n_read)
{
	uint64_t n_read = 0;

	if (!is_same_file(m, b))
		start_anew(m);
	if (m->read_to == 0 && b->size > max_read)
		start_late(m, b->size - max_read);
	int r = m->read_to < b->size ? read_on(m, b, max_read, &n_read) : 0;
	int settled = code_ranges_settle(&m->ranges);
	*ret_n_read = n_read;
	return r < 0 ? r : settled;
}

/* A line behind the file's end of then was written later. Where nothing is known of before, it is better than nothing: writers have
 * buffers. */
static const struct code_range *range_at(const struct perf_map *m, uint64_t pc, uint64_t n_bytes)
{
	const struct code_range *range = code_ranges_find(&m->ranges, pc);
	const struct code_range *before = range;

	for (int i = 0; n_bytes && before && before->name_off >= n_bytes; i++)
		before = i < PERF_MAP_MAX_USES ? code_ranges_find_before(&m->ranges, before, pc)
					       : NULL;
	return before ? before : range;
}

int perf_map_name(const struct perf_map *m, const struct bytes *b, uint64_t pc, uint64_t n_bytes,
		  struct buf *name)
{
	char text[PERF_MAP_MAX_HEAD_BYTES + PERF_MAP_MAX_NAME_BYTES];
	const struct code_range *range = range_at(m, pc, n_bytes);
	struct perf_map_line l;
	struct str line;

	ssize_t n = range ? bytes_read_some(b, range->name_off, text, sizeof(text)) : 0;
	if (n < 0)
		return (int)n;
	struct str rest = { text, (size_t)n };
	if (n == 0 || !str_split(&rest, '\n', &line) || !perf_map_parse_line(line, &l))
		return PERF_MAP_NONE;
	if (pc < l.begin || pc - l.begin >= l.n_bytes)
		return PERF_MAP_NONE;
	return buf_append(name, l.name.p, MIN_OF(l.name.n, (size_t)PERF_MAP_MAX_NAME_BYTES));
}

size_t perf_map_bytes(const struct perf_map *m)
{
	return code_ranges_bytes(&m->ranges);
}

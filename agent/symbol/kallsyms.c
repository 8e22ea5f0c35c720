/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's symbols: loading and look-up. */
#include "agent/symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/symbol/kallsyms_internal.h"
#include "agent/util/macro.h"

/* One seq_file read gives at most a page or two whatever is asked for; more would only cost memory.
 */
#define READ_BYTES 16384

static int feed_file(struct kallsyms_parser *parser, int fd)
{
	char chunk[READ_BYTES];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		/* What cannot be read (any more) is not there. */
		if (n <= 0)
			return 0;
		int r = kallsyms_parser_feed(parser, chunk, (size_t)n);
		if (r < 0)
			return r;
	}
}

int kallsyms_load(const char *path, size_t max_bytes, struct kallsyms **ret_kallsyms)
{
	_cleanup_(kallsyms_parser_freep) struct kallsyms_parser *parser = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int r = kallsyms_parser_new(max_bytes, &parser);

	if (r < 0)
		return r;
	if (fd >= 0) {
		r = feed_file(parser, fd);
		if (r < 0)
			return r;
	}
	return kallsyms_parser_finish_take(TAKE_PTR(parser), ret_kallsyms);
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->starts);
	free(k->segments);
	free(k->runs);
	free(k->module_names);
	kallsyms_names_fini(&k->names);
	kallsyms_recent_fini(&k->recent);
	free(k->modules);
	free(k);
}

enum kallsyms_state kallsyms_state(const struct kallsyms *k)
{
	return k->state;
}

size_t kallsyms_n_symbols(const struct kallsyms *k)
{
	return k->n;
}

size_t kallsyms_bytes(const struct kallsyms *k)
{
	return sizeof(*k) + k->n * sizeof(*k->starts) + k->n_segments * sizeof(*k->segments) +
	       k->n_runs * sizeof(*k->runs) + k->module_names_bytes +
	       k->n_modules * sizeof(*k->modules) + kallsyms_names_bytes(&k->names) +
	       kallsyms_recent_bytes(&k->recent);
}

uint64_t kallsyms_n_skipped(const struct kallsyms *k)
{
	return k->n_skipped;
}

const char *kallsyms_module(const struct kallsyms *k, size_t i)
{
	return i < k->n_modules ? k->module_names + k->modules[i] : NULL;
}

/* The last segment with a base at or below pc; entry `*ret_first` up to `*ret_end` are its. */
static const struct kallsyms_segment *find_segment(const struct kallsyms *k, uint64_t pc,
						   size_t *ret_end)
{
	size_t low = 0;
	size_t high = k->n_segments;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->segments[mid].base <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return NULL;
	*ret_end = low < k->n_segments ? k->segments[low].first : k->n;
	return &k->segments[low - 1];
}

static const struct kallsyms_run *run_of(const struct kallsyms *k, size_t entry)
{
	size_t low = 0;
	size_t high = k->n_runs;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (k->runs[mid].first <= entry)
			low = mid;
		else
			high = mid;
	}
	return &k->runs[low];
}

/* The last entry of first … end − 1 that begins at or before `distance`; there is one. */
static size_t find_entry(const struct kallsyms *k, size_t first, size_t end, uint64_t distance)
{
	while (end - first > 1) {
		size_t mid = first + (end - first) / 2;

		if (k->starts[mid] <= distance)
			first = mid;
		else
			end = mid;
	}
	return first;
}

/* Behind the last byte of entry i, which begins at `begin`. */
static uint64_t end_of(const struct kallsyms *k, const struct kallsyms_segment *segment, size_t i,
		       size_t segment_end, uint64_t begin)
{
	uint64_t end = begin + MIN_OF(KALLSYMS_MAX_LAST_BYTES, UINT64_MAX - begin);

	if (i + 1 == segment_end)
		return end;
	uint64_t next = segment->base + k->starts[i + 1];
	return run_of(k, i)->module == run_of(k, i + 1)->module ? next : MIN_OF(end, next);
}

/* Unpacked only when it was not asked for lately. */
static const char *name_of(struct kallsyms *k, uint32_t number)
{
	const char *name = kallsyms_recent_get(&k->recent, number);

	if (name)
		return name;
	name = kallsyms_names_get(&k->names, number);
	if (name)
		kallsyms_recent_put(&k->recent, number, name);
	return name;
}

bool kallsyms_find(struct kallsyms *k, uint64_t pc, struct kallsyms_symbol *ret_symbol)
{
	size_t segment_end = 0;
	const struct kallsyms_segment *segment = find_segment(k, pc, &segment_end);

	if (!segment)
		return false;
	size_t i = find_entry(k, segment->first, segment_end, pc - segment->base);
	uint64_t begin = segment->base + k->starts[i];
	uint64_t end = end_of(k, segment, i, segment_end, begin);
	if (pc >= end)
		return false;
	const struct kallsyms_run *run = run_of(k, i);
	const char *name = name_of(k, run->name + (uint32_t)(i - run->first));
	if (!name || !name[0])
		return false;
	*ret_symbol = (struct kallsyms_symbol){ begin, end, name,
						k->module_names + k->modules[run->module] };
	return true;
}

bool kallsyms_begins(const struct kallsyms *k, uint64_t address)
{
	size_t end = 0;
	const struct kallsyms_segment *segment = find_segment(k, address, &end);

	if (!segment)
		return false;
	size_t i = find_entry(k, segment->first, end, address - segment->base);
	return segment->base + k->starts[i] == address && run_of(k, i)->module != 0;
}

void kallsyms_rest(struct kallsyms *k)
{
	kallsyms_names_rest(&k->names);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPU numbers as the kernel prints them. */
#include "agent/util/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "agent/util/buf.h"
#include "agent/util/cleanup.h"
#include "agent/util/file.h"

#define CPUS_TEXT_MAX ((size_t)64 * 1024)

void cpus_fini(struct cpus *c)
{
	if (!c)
		return;
	free(c->ids);
	*c = (struct cpus){ 0 };
}

/* Range = number [ "-" number ] */
static int parse_range(struct str piece, uint64_t *ret_first, uint64_t *ret_last)
{
	int r = str_scan_u64(&piece, 10, CPUS_MAX - 1, ret_first);

	if (r < 0)
		return r;
	*ret_last = *ret_first;
	if (piece.n == 0)
		return 0;
	if (piece.p[0] != '-')
		return -EINVAL;
	piece.p++;
	piece.n--;
	r = str_parse_u64(piece, 10, CPUS_MAX - 1, ret_last);
	if (r < 0)
		return r;
	return *ret_last < *ret_first ? -EINVAL : 0;
}

static int mark_ranges(struct str text, bool *present)
{
	struct str piece;

	while (str_split(&text, ',', &piece)) {
		uint64_t first;
		uint64_t last;
		int r = parse_range(str_trim(piece), &first, &last);

		if (r < 0)
			return r;
		for (uint64_t cpu = first; cpu <= last; cpu++)
			present[cpu] = true;
	}
	return 0;
}

int cpus_parse(struct str text, struct cpus *ret_cpus)
{
	_cleanup_free_ bool *present = calloc(CPUS_MAX, sizeof(*present));
	_cleanup_cpus_ struct cpus c = { 0 };

	if (!present)
		return -ENOMEM;
	text = str_trim(text);
	int r = text.n ? mark_ranges(text, present) : 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < CPUS_MAX; i++)
		c.n += present[i];
	c.ids = calloc(c.n ? c.n : 1, sizeof(*c.ids));
	if (!c.ids)
		return -ENOMEM;
	for (size_t i = 0, at = 0; i < CPUS_MAX; i++)
		if (present[i])
			c.ids[at++] = (unsigned int)i;
	*ret_cpus = c;
	c = (struct cpus){ 0 };
	return 0;
}

static int cpus_read(const char *path, struct cpus *ret_cpus)
{
	_cleanup_buf_ struct buf b = BUF_INIT(CPUS_TEXT_MAX);
	int r = file_read(AT_FDCWD, path, &b);

	if (r < 0)
		return r;
	return cpus_parse((struct str){ buf_str(&b), b.len }, ret_cpus);
}

int cpus_online(struct cpus *ret_cpus)
{
	return cpus_read("/sys/devices/system/cpu/online", ret_cpus);
}

int cpus_possible(struct cpus *ret_cpus)
{
	return cpus_read("/sys/devices/system/cpu/possible", ret_cpus);
}

bool cpus_has(const struct cpus *c, unsigned int cpu)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->ids[i] == cpu)
			return true;
	return false;
}

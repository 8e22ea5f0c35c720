/* SPDX-License-Identifier: Apache-2.0 */
/* Where an object's code lies in its table. */
#include "agent/unwind/row_regions.h"

#include <elf.h>
#include <stdlib.h>

#include "agent/util/macro.h"

static uint64_t bias_of(const struct elf_segment *s)
{
	return s->vaddr - s->file_off;
}

static bool is_text(const struct elf_segment *s)
{
	return s->type == PT_LOAD && (s->flags & PF_X) && s->file_bytes > 0;
}

/* All code at one distance from its bytes. */
static bool find_one(const struct elf *elf, struct row_regions *regions)
{
	struct row_region *all = &regions->items[0];
	bool found = false;

	*regions = (struct row_regions){ .n = 1 };
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (!is_text(s))
			continue;
		if (found && bias_of(s) != regions->bias)
			return false;
		regions->bias = bias_of(s);
		found = true;
	}
	if (!elf_text_range(elf, &all->begin, &all->end))
		all->end = UINT64_MAX;
	return true;
}

static int by_file_off(const void *a, const void *b)
{
	const struct elf_segment *x = *(const struct elf_segment *const *)a;
	const struct elf_segment *y = *(const struct elf_segment *const *)b;

	return (x->file_off > y->file_off) - (x->file_off < y->file_off);
}

/* Behind the regions so far. False: not, or there is no room. */
static bool add(struct row_regions *regions, const struct elf_segment *s)
{
	const struct row_region *last = regions->n > 0 ? &regions->items[regions->n - 1] : NULL;
	struct row_region next = {
		.begin = s->vaddr,
		.end = s->vaddr + s->file_bytes,
		.shift = regions->bias - bias_of(s),
	};

	if (regions->n == ROW_REGIONS_MAX || next.end + next.shift < next.begin + next.shift ||
	    (last && next.begin + next.shift < last->end + last->shift))
		return false;
	regions->items[regions->n++] = next;
	return true;
}

bool row_regions_find(const struct elf *elf, struct row_regions *ret_regions)
{
	const struct elf_segment *segments[ROW_REGIONS_MAX];
	struct row_regions regions;
	size_t n = 0;

	if (find_one(elf, ret_regions))
		return true;
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		if (!is_text(elf_segment(elf, i)))
			continue;
		if (n == ROW_REGIONS_MAX)
			return false;
		segments[n++] = elf_segment(elf, i);
	}
	qsort(segments, n, sizeof(*segments), by_file_off);
	regions = (struct row_regions){ .bias = bias_of(segments[0]) };
	for (size_t i = 0; i < n; i++)
		if (!add(&regions, segments[i]))
			return false;
	*ret_regions = regions;
	return true;
}

uint64_t row_regions_place(const struct row_regions *regions, uint64_t vaddr)
{
	const struct row_region *found = &regions->items[0];

	for (size_t i = 1; i < regions->n; i++) {
		const struct row_region *r = &regions->items[i];

		if (r->begin <= vaddr && (found->begin > vaddr || r->begin > found->begin))
			found = r;
	}
	return vaddr + found->shift;
}

uint64_t row_regions_vaddr(const struct row_regions *regions, uint64_t place)
{
	size_t i = regions->n - 1;

	while (i > 0 && regions->items[i].begin + regions->items[i].shift > place)
		i--;
	return place - regions->items[i].shift;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What has changed in the kernel's code since its symbols were read. */
#include "agent/symbol/kernel_changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

/* What went one after the other may have lain in the same place: so many are looked at. */
#define MAX_OVERLAPPING 16

/* How many begin before an address. */
static size_t n_before(const struct kernel_codes *codes, uint64_t begin)
{
	size_t low = 0;
	size_t high = codes->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (codes->items[mid].begin < begin)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct kernel_code *at(const struct kernel_codes *codes, uint64_t begin)
{
	size_t i = n_before(codes, begin);

	return i < codes->n && codes->items[i].begin == begin ? &codes->items[i] : NULL;
}

/* How many begin at or before pc. */
static size_t n_up_to(const struct kernel_codes *codes, uint64_t pc)
{
	size_t n = n_before(codes, pc);

	return n < codes->n && codes->items[n].begin == pc ? n + 1 : n;
}

static bool holds(const struct kernel_code *code, uint64_t pc)
{
	return pc - code->begin < code->n_bytes;
}

static int reserve(struct kernel_codes *codes)
{
	if (codes->n < codes->cap)
		return 0;
	if (codes->n >= KERNEL_CHANGES_MAX)
		return -ENOBUFS;
	size_t cap = MIN_OF(codes->cap * 2 + 8, (size_t)KERNEL_CHANGES_MAX);
	struct kernel_code *more = reallocarray(codes->items, cap, sizeof(*more));
	if (!more)
		return -ENOMEM;
	codes->items = more;
	codes->cap = cap;
	return 0;
}

/* Takes the name, whatever it returns; in the place of one with the same begin. */
static int put(struct kernel_codes *codes, struct kernel_code code)
{
	size_t i = n_before(codes, code.begin);
	int r = 0;

	if (i < codes->n && codes->items[i].begin == code.begin) {
		free(codes->items[i].name);
	} else {
		r = reserve(codes);
		if (r < 0) {
			free(code.name);
			return r;
		}
		memmove(&codes->items[i + 1], &codes->items[i],
			(codes->n - i) * sizeof(*codes->items));
		codes->n++;
	}
	codes->items[i] = code;
	return 0;
}

static void drop(struct kernel_codes *codes, size_t i)
{
	free(codes->items[i].name);
	codes->n--;
	memmove(&codes->items[i], &codes->items[i + 1], (codes->n - i) * sizeof(*codes->items));
}

static void codes_fini(struct kernel_codes *codes)
{
	for (size_t i = 0; i < codes->n; i++)
		free(codes->items[i].name);
	free(codes->items);
	*codes = (struct kernel_codes){ 0 };
}

void kernel_changes_init(struct kernel_changes *changes)
{
	*changes = (struct kernel_changes){ 0 };
}

void kernel_changes_fini(struct kernel_changes *changes)
{
	codes_fini(&changes->here);
	codes_fini(&changes->gone);
}

static bool overlaps(const struct kernel_code *a, const struct kernel_code *b)
{
	return a->begin < b->begin + b->n_bytes && b->begin < a->begin + a->n_bytes;
}

static bool is_later(const struct kernel_code *a, const struct kernel_code *b)
{
	return a && a->time_ns > b->time_ns;
}

/* The first that may overlap: those that are here do not overlap each other. */
static size_t first_near(const struct kernel_codes *codes, const struct kernel_code *code)
{
	size_t i = n_before(codes, code->begin);

	return i > 0 ? i - 1 : 0;
}

static bool is_outdated(const struct kernel_changes *changes, const struct kernel_code *code)
{
	const struct kernel_codes *here = &changes->here;
	size_t i = first_near(here, code);

	for (; i < here->n && here->items[i].begin < code->begin + code->n_bytes; i++)
		if (overlaps(&here->items[i], code) && is_later(&here->items[i], code))
			return true;
	return is_later(at(&changes->gone, code->begin), code);
}

/* Nothing else lies there any more, whether that was told or not. */
static void clear_place(struct kernel_codes *here, const struct kernel_code *code)
{
	size_t i = first_near(here, code);

	while (i < here->n && here->items[i].begin < code->begin + code->n_bytes)
		if (here->items[i].begin != code->begin && overlaps(&here->items[i], code))
			drop(here, i);
		else
			i++;
}

static int come(struct kernel_changes *changes, struct kernel_code code)
{
	if (code.n_bytes == 0 || is_outdated(changes, &code)) {
		free(code.name);
		return 0;
	}
	clear_place(&changes->here, &code);
	return put(&changes->here, code);
}

static int go(struct kernel_changes *changes, struct kernel_code code)
{
	size_t i = n_before(&changes->here, code.begin);
	bool is_here = i < changes->here.n && changes->here.items[i].begin == code.begin;

	if ((is_here && is_later(&changes->here.items[i], &code)) ||
	    is_later(at(&changes->gone, code.begin), &code)) {
		free(code.name);
		return 0;
	}
	if (is_here)
		drop(&changes->here, i);
	return put(&changes->gone, code);
}

static int apply(struct kernel_changes *changes, const struct kernel_text *text,
		 const struct kernel_text_change *change)
{
	struct kernel_code code = { .begin = change->begin,
				    .n_bytes = change->n_bytes,
				    .kind = change->kind,
				    .time_ns = change->time_ns,
				    .name = strdup(kernel_text_name(text, change)) };

	/* What goes need not be called anything. */
	if (change->is_gone)
		return go(changes, code);
	return code.name ? come(changes, code) : -ENOMEM;
}

int kernel_changes_apply(struct kernel_changes *changes, const struct kernel_text *text)
{
	int r = 0;

	for (size_t i = 0; i < text->n; i++) {
		int applied = apply(changes, text, &text->items[i]);

		r = applied < 0 ? applied : r;
	}
	return r;
}

const struct kernel_code *kernel_changes_find(const struct kernel_changes *changes, uint64_t pc)
{
	size_t n = n_up_to(&changes->here, pc);

	return n > 0 && holds(&changes->here.items[n - 1], pc) ? &changes->here.items[n - 1] : NULL;
}

const struct kernel_code *kernel_changes_find_gone(const struct kernel_changes *changes,
						   uint64_t pc)
{
	size_t n = n_up_to(&changes->gone, pc);
	size_t end = n > MAX_OVERLAPPING ? n - MAX_OVERLAPPING : 0;

	for (; n > end; n--) {
		const struct kernel_code *code = &changes->gone.items[n - 1];

		if (code->name && holds(code, pc))
			return code;
	}
	return NULL;
}

bool kernel_changes_hide(const struct kernel_changes *changes, uint64_t begin)
{
	return at(&changes->here, begin) || at(&changes->gone, begin);
}

void kernel_changes_end(struct kernel_changes *changes, kernel_changes_fn is_in_index, void *data)
{
	struct kernel_codes *gone = &changes->gone;
	size_t n = 0;

	for (size_t i = 0; i < gone->n; i++) {
		struct kernel_code code = gone->items[i];

		if (code.n_ends > 0) {
			free(code.name);
			code.name = NULL;
		}
		if (code.n_ends++ == 0 || is_in_index(code.begin, data))
			gone->items[n++] = code;
	}
	gone->n = n;
}

static size_t codes_bytes(const struct kernel_codes *codes)
{
	size_t n = codes->cap * sizeof(*codes->items);

	for (size_t i = 0; i < codes->n; i++)
		n += codes->items[i].name ? strlen(codes->items[i].name) + 1 : 0;
	return n;
}

size_t kernel_changes_bytes(const struct kernel_changes *changes)
{
	return codes_bytes(&changes->here) + codes_bytes(&changes->gone);
}

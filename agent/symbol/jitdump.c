/* SPDX-License-Identifier: Apache-2.0 */
/* A jitdump. */
#include "agent/symbol/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

/* Specification III: "JiTD" as the writer's byte order has it. */
#define MAGIC 0x4A695444U
#define VERSION 1
/* Specification III: timestamps are the processor's, not of a clock. */
#define FLAG_ARCH_TIMESTAMP 1
/* What reading one record costs, as compared with reading bytes. */
#define RECORD_COST 512

/* Larger headers are legal; nobody writes any. */
#define MAX_HEADER_BYTES 4096

/* Specification IV. */
enum record_id {
	RECORD_LOAD,
	RECORD_MOVE,
	RECORD_DEBUG_INFO,
	RECORD_CLOSE,
	RECORD_UNWINDING_INFO,
};

struct file_header {
	uint32_t magic;
	uint32_t version;
	uint32_t total_bytes;
	uint32_t elf_machine;
	uint32_t reserved;
	uint32_t pid;
	uint64_t timestamp;
	uint64_t flags;
};

struct record_header {
	uint32_t id;
	uint32_t total_bytes;
	uint64_t timestamp;
};

/* Specification V; the name and the code follow. */
struct load_record {
	struct record_header head;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t code_addr;
	uint64_t code_bytes;
	uint64_t code_index;
};

/* Specification VI. */
struct move_record {
	struct record_header head;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t old_code_addr;
	uint64_t new_code_addr;
	uint64_t code_bytes;
	uint64_t code_index;
};

_Static_assert(sizeof(struct file_header) == JITDUMP_HEADER_BYTES, "as written");
_Static_assert(sizeof(struct record_header) == 16, "as written");
_Static_assert(sizeof(struct load_record) == 56, "as written");
_Static_assert(sizeof(struct move_record) == 64, "as written");

void jitdump_init(struct jitdump *d, size_t max_bytes)
{
	*d = (struct jitdump){ 0 };
	jitdump_set_max(d, max_bytes);
}

void jitdump_set_max(struct jitdump *d, size_t max_bytes)
{
	size_t loads_bytes = max_bytes * 2 / 5;

	d->max_loads = MAX_OF(loads_bytes / sizeof(struct jitdump_load), (size_t)2);
	code_ranges_set_max(&d->ranges, code_ranges_max_of(max_bytes - loads_bytes));
}

void jitdump_fini(struct jitdump *d)
{
	code_ranges_fini(&d->ranges);
	free(d->loads);
	d->loads = NULL;
	d->n_loads = d->cap_loads = 0;
}

static void start_anew(struct jitdump *d)
{
	jitdump_fini(d);
	d->read_to = 0;
	d->ended = false;
}

static int load_add(struct jitdump *d, uint64_t code_index, uint64_t record_off)
{
	/* An index that was given before, or out of order: a move of it finds what came first. */
	if (d->n_loads > 0 && code_index <= d->loads[d->n_loads - 1].code_index)
		return 0;
	if (d->n_loads >= d->max_loads) {
		size_t keep = d->max_loads / 2;

		memmove(d->loads, d->loads + (d->n_loads - keep), keep * sizeof(*d->loads));
		d->n_loads = keep;
	}
	if (d->n_loads == d->cap_loads) {
		size_t cap = MIN_OF(MAX_OF(d->cap_loads * 2, (size_t)64), d->max_loads);
		struct jitdump_load *loads = reallocarray(d->loads, cap, sizeof(*loads));

		if (!loads)
			return -ENOMEM;
		d->loads = loads;
		d->cap_loads = cap;
	}
	d->loads[d->n_loads++] = (struct jitdump_load){ code_index, record_off };
	return 0;
}

static const struct jitdump_load *load_find(const struct jitdump *d, uint64_t code_index)
{
	size_t low = 0;
	size_t high = d->n_loads;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (d->loads[middle].code_index < code_index)
			low = middle + 1;
		else
			high = middle;
	}
	return low < d->n_loads && d->loads[low].code_index == code_index ? &d->loads[low] : NULL;
}

static int take_load(struct jitdump *d, const struct bytes *b, struct bytes_window *w,
		     uint64_t record_off)
{
	struct load_record load;
	int r = bytes_read_window(b, w, record_off, &load, sizeof(load));

	if (r < 0)
		return r;
	r = code_ranges_add(&d->ranges, load.code_addr, load.code_bytes, record_off);
	if (r < 0)
		return r;
	return load_add(d, load.code_index, record_off);
}

static int take_move(struct jitdump *d, const struct bytes *b, struct bytes_window *w,
		     uint64_t record_off)
{
	struct move_record move;
	int r = bytes_read_window(b, w, record_off, &move, sizeof(move));
	const struct jitdump_load *load = r < 0 ? NULL : load_find(d, move.code_index);

	if (!load)
		return r;
	return code_ranges_add(&d->ranges, move.new_code_addr, move.code_bytes, record_off);
}

static size_t least_bytes(uint32_t id)
{
	if (id == RECORD_LOAD)
		return sizeof(struct load_record);
	return id == RECORD_MOVE ? sizeof(struct move_record) : sizeof(struct record_header);
}

/* One record if it is whole: then `read_to` is behind it. */
static int take_record(struct jitdump *d, const struct bytes *b, struct bytes_window *w)
{
	struct record_header head;
	uint64_t at = d->read_to;
	int r = bytes_read_window(b, w, at, &head, sizeof(head));

	if (r < 0)
		return r;
	if (head.total_bytes < least_bytes(head.id)) {
		d->ended = true;
		return 0;
	}
	if (head.total_bytes > b->size - at)
		return -ENODATA;
	if (head.id == RECORD_LOAD)
		r = take_load(d, b, w, at);
	else if (head.id == RECORD_MOVE)
		r = take_move(d, b, w, at);
	if (r < 0)
		return r;
	d->read_to = at + head.total_bytes;
	return 0;
}

static int read_header(struct jitdump *d, const struct bytes *b)
{
	struct file_header h;
	int r = bytes_read(b, 0, d->header, sizeof(d->header));

	if (r == -ENODATA)
		return JITDUMP_FOREIGN;
	if (r < 0)
		return r;
	memcpy(&h, d->header, sizeof(h));
	if (h.magic != MAGIC || h.version != VERSION || h.total_bytes < sizeof(h) ||
	    h.total_bytes > MAX_HEADER_BYTES)
		return JITDUMP_FOREIGN;
	d->read_to = h.total_bytes;
	return 0;
}

static bool is_same_file(const struct jitdump *d, const struct bytes *b)
{
	unsigned char header[JITDUMP_HEADER_BYTES];

	return b->size >= d->read_to && bytes_read(b, 0, header, sizeof(header)) == 0 &&
	       memcmp(header, d->header, sizeof(header)) == 0;
}

int jitdump_read(struct jitdump *d, const struct bytes *b, uint64_t max_read, uint64_t *ret_n_read)
{
	struct bytes_window w = { .n = 0 };
	uint64_t n_read = 0;
	int r = 0;

	if (d->read_to > 0 && !is_same_file(d, b))
		start_anew(d);
	if (d->read_to == 0)
		r = read_header(d, b);
	while (r == 0 && !d->ended && d->read_to < b->size && n_read < max_read) {
		uint64_t before = d->read_to;

		r = take_record(d, b, &w);
		/* What was passed over was not read. */
		n_read += MIN_OF(MAX_OF(d->read_to - before, (uint64_t)1), (uint64_t)RECORD_COST);
	}
	int settled = code_ranges_settle(&d->ranges);
	*ret_n_read = n_read;
	/* A record that is not whole yet. */
	return r == -ENODATA || r == 0 ? settled : r;
}

/* Whether the record was written after that time. One of another clock (flagged, or ahead of ours) tells nothing. */
static bool is_after(const struct jitdump *d, const struct bytes *b, const struct code_range *range,
		     uint64_t at_ns, uint64_t now_ns)
{
	struct record_header head;
	struct file_header h;

	memcpy(&h, d->header, sizeof(h));
	if (at_ns == 0 || (h.flags & FLAG_ARCH_TIMESTAMP) ||
	    bytes_read(b, range->name_off, &head, sizeof(head)) < 0)
		return false;
	return head.timestamp > at_ns && head.timestamp <= now_ns;
}

static const struct code_range *range_at(const struct jitdump *d, const struct bytes *b,
					 uint64_t pc, uint64_t at_ns, uint64_t now_ns)
{
	const struct code_range *range = code_ranges_find(&d->ranges, pc);
	const struct code_range *before = range;

	for (int i = 0; before && is_after(d, b, before, at_ns, now_ns); i++)
		before = i < JITDUMP_MAX_USES ? code_ranges_find_before(&d->ranges, before, pc)
					      : NULL;
	return before ? before : range;
}

/* The load at that place, or that the move at that place is of. 0 (*off is the load's), JITDUMP_NONE, -errno. */
static int read_moved(const struct jitdump *d, const struct bytes *b, uint64_t *off,
		      struct load_record *ret_load)
{
	const struct jitdump_load *load;
	struct move_record move;
	int r = bytes_read(b, *off, &move, sizeof(move));

	if (r < 0)
		return r;
	load = load_find(d, move.code_index);
	if (!load)
		return JITDUMP_NONE;
	*off = load->record_off;
	return bytes_read(b, *off, ret_load, sizeof(*ret_load));
}

static int read_load(const struct jitdump *d, const struct bytes *b, uint64_t *off,
		     struct load_record *ret_load)
{
	int r = bytes_read(b, *off, ret_load, sizeof(*ret_load));

	if (r == 0 && ret_load->head.id == RECORD_MOVE)
		r = read_moved(d, b, off, ret_load);
	if (r != 0)
		return r == -ENODATA ? JITDUMP_NONE : r;
	if (ret_load->head.id != RECORD_LOAD || ret_load->head.total_bytes <= sizeof(*ret_load))
		return JITDUMP_NONE;
	return 0;
}

int jitdump_name(const struct jitdump *d, const struct bytes *b, uint64_t pc, uint64_t at_ns,
		 uint64_t now_ns, struct buf *name)
{
	const struct code_range *range = range_at(d, b, pc, at_ns, now_ns);
	char text[JITDUMP_MAX_NAME_BYTES];
	struct load_record load;

	if (!range)
		return JITDUMP_NONE;
	uint64_t off = range->name_off;
	int r = read_load(d, b, &off, &load);
	if (r != 0)
		return r;
	size_t most = MIN_OF(load.head.total_bytes - sizeof(load), sizeof(text));
	ssize_t n = bytes_read_some(b, off + sizeof(load), text, most);
	if (n < 0)
		return (int)n;
	size_t len = strnlen(text, (size_t)n);
	return len == 0 ? JITDUMP_NONE : buf_append(name, text, len);
}

size_t jitdump_bytes(const struct jitdump *d)
{
	return code_ranges_bytes(&d->ranges) + d->cap_loads * sizeof(*d->loads);
}

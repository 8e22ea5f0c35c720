/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a Go function table that was found. */
#include "agent/object/go/gopclntab.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/go/gopclntab_internal.h"
#include "agent/util/macro.h"

/* A number in pctab takes 5 bytes at most: 32 bits by sevens. */
#define MAX_VARINT_BYTES 5

/* The members of a record that are read, by layout (struct _func of src/runtime/runtime2.go); its last byte is n_funcdata. */
static const struct record_layout {
	uint8_t name;
	uint8_t pcsp; /* pcfile, pcline, n_pcdata and the unit follow */
	uint8_t flags;
	uint8_t n_bytes;
	uint8_t functab_entry_bytes; /* a function's; its halves are the entry and the place of the record */
} layouts[] = {
	[GOPCLNTAB_1_16] = { .name = 8,
			     .pcsp = 20,
			     .flags = 41,
			     .n_bytes = 44,
			     .functab_entry_bytes = 16 },
	[GOPCLNTAB_1_18] = { .name = 4,
			     .pcsp = 16,
			     .flags = 37,
			     .n_bytes = 40,
			     .functab_entry_bytes = 8 },
	[GOPCLNTAB_1_20] = { .name = 4,
			     .pcsp = 16,
			     .flags = 41,
			     .n_bytes = 44,
			     .functab_entry_bytes = 8 },
};

static bool window_holds(const struct gopclntab_window *w, uint64_t file_off, size_t n)
{
	return file_off >= w->file_off && file_off - w->file_off <= w->n &&
	       n <= w->n - (file_off - w->file_off);
}

/* More where the reading goes on, or soon behind. */
static void choose_step(struct gopclntab_window *w, uint64_t file_off)
{
	bool goes_on = w->n > 0 && file_off >= w->file_off && file_off - w->file_off <= 2 * w->n;

	w->step = goes_on ? MIN_OF(w->step * 2, (size_t)GOPCLNTAB_WINDOW_BYTES)
			  : GOPCLNTAB_STEP_BYTES;
}

static int read_part(struct gopclntab *table, enum gopclntab_part part, uint64_t file_off,
		     void *dst, size_t n)
{
	struct gopclntab_window *w = &table->windows[part];

	if (!window_holds(w, file_off, n)) {
		choose_step(w, file_off);
		ssize_t got = bytes_read_some(elf_bytes(table->elf), file_off, w->bytes, w->step);

		w->file_off = file_off;
		w->n = got < 0 ? 0 : (size_t)got;
		if (got < 0)
			return (int)got;
	}
	if (!window_holds(w, file_off, n))
		return -ENODATA;
	memcpy(dst, w->bytes + (file_off - w->file_off), n);
	return 0;
}

int gopclntab_read(struct gopclntab *table, enum gopclntab_part part, uint64_t file_off, void *dst,
		   size_t n)
{
	if (file_off > table->end || n > table->end - file_off)
		return GOPCLNTAB_NONE;
	int r = read_part(table, part, file_off, dst, n);
	return r == -ENODATA ? GOPCLNTAB_NONE : r;
}

int gopclntab_entry(struct gopclntab *table, uint32_t index, uint64_t *ret_entry,
		    uint64_t *ret_record)
{
	size_t n = layouts[table->version].functab_entry_bytes;
	uint64_t at = table->funcs_off + (uint64_t)index * n;
	uint64_t words[2] = { 0 };
	uint32_t halves[2] = { 0 };
	/* The last one is the end of all functions, without a record. */
	size_t want = index < table->n_funcs ? n : n / 2;
	int r = n == sizeof(words)
			? gopclntab_read(table, GOPCLNTAB_PART_FUNCTAB, at, words, want)
			: gopclntab_read(table, GOPCLNTAB_PART_FUNCTAB, at, halves, want);

	assert(index <= table->n_funcs);
	if (r != 0)
		return r;
	*ret_entry = n == sizeof(words) ? words[0] : halves[0];
	*ret_record = n == sizeof(words) ? words[1] : halves[1];
	return 0;
}

static uint32_t u32_at(const unsigned char *record, size_t off)
{
	uint32_t value;

	memcpy(&value, record + off, sizeof(value));
	return value;
}

int gopclntab_func(struct gopclntab *table, uint32_t index, struct gopclntab_func *ret_func)
{
	const struct record_layout *layout = &layouts[table->version];
	unsigned char record[48];
	uint64_t begin, end, at, none;

	if (index >= table->n_funcs)
		return GOPCLNTAB_NONE;
	int r = gopclntab_entry(table, index, &begin, &at);
	if (r != 0)
		return r;
	r = gopclntab_entry(table, index + 1, &end, &none);
	if (r != 0)
		return r;
	if (end <= begin || at > table->end - table->funcs_off || table->text > UINT64_MAX - end)
		return GOPCLNTAB_NONE;
	r = gopclntab_read(table, GOPCLNTAB_PART_RECORDS, table->funcs_off + at, record,
			   layout->n_bytes);
	if (r != 0)
		return r;
	*ret_func = (struct gopclntab_func){
		.begin = table->text + begin,
		.end = table->text + end,
		.name_off = u32_at(record, layout->name),
		.pcsp = u32_at(record, layout->pcsp),
		.pcfile = u32_at(record, layout->pcsp + 4u),
		.pcline = u32_at(record, layout->pcsp + 8u),
		.flags = record[layout->flags],
		.n_funcdata = record[layout->n_bytes - 1],
		.n_pcdata = u32_at(record, layout->pcsp + 12u),
		.pcdata_off = table->funcs_off + at + layout->n_bytes,
		.unit = u32_at(record, layout->pcsp + 16u),
	};
	return 0;
}

int gopclntab_find(struct gopclntab *table, uint64_t vaddr, uint32_t *ret_index)
{
	uint64_t want = vaddr - table->text;
	uint64_t entry, record;
	uint32_t lo = 0;
	uint32_t hi = table->n_funcs;

	if (vaddr < table->text)
		return GOPCLNTAB_NONE;
	/* The first entry above the address is at hi, which may be the end of all. */
	int r = gopclntab_entry(table, hi, &entry, &record);
	if (r == 0 && want >= entry)
		r = GOPCLNTAB_NONE;
	while (r == 0 && lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		r = gopclntab_entry(table, mid, &entry, &record);
		if (entry > want)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (r != 0)
		return r;
	if (lo == 0)
		return GOPCLNTAB_NONE;
	*ret_index = lo - 1;
	return 0;
}

/* Appends the name at `at`, or a part of it. */
static int append_name(struct gopclntab *table, uint64_t at, struct buf *name)
{
	for (size_t i = 0; i < GOPCLNTAB_MAX_NAME_BYTES && at + i < table->names_end; i++) {
		char c;
		int r = gopclntab_read(table, GOPCLNTAB_PART_NAMES, at + i, &c, 1);

		if (r != 0)
			return r;
		if (c == '\0')
			return i > 0 ? 0 : GOPCLNTAB_NONE;
		r = buf_append_char(name, c);
		if (r != 0)
			return r;
	}
	return GOPCLNTAB_NONE;
}

int gopclntab_name(struct gopclntab *table, const struct gopclntab_func *func, struct buf *name)
{
	size_t len = name->len;
	int r = append_name(table, table->names_off + func->name_off, name);

	if (r != 0 && name->len > len) {
		name->len = len;
		name->data[len] = '\0';
	}
	return r;
}

void gopclntab_values_init(const struct gopclntab *table, const struct gopclntab_func *func,
			   uint32_t place, struct gopclntab_values *ret_values)
{
	*ret_values = (struct gopclntab_values){
		.file_off = table->values_off + place,
		.pc = func->begin,
		.end = func->end,
		.value = -1,
	};
}

static int read_block(struct gopclntab *table, struct gopclntab_block *block, uint64_t number)
{
	uint64_t file_off = number * GOPCLNTAB_STEP_BYTES;
	ssize_t got = bytes_read_some(elf_bytes(table->elf), file_off, block->bytes,
				      sizeof(block->bytes));

	block->end = got < 0 ? 0 : file_off + GOPCLNTAB_STEP_BYTES;
	block->n = got < 0 ? 0 : (size_t)got;
	return (int)MIN_OF(got, 0);
}

static inline int read_value_byte(struct gopclntab *table, uint64_t file_off, uint8_t *ret_byte)
{
	uint64_t number = file_off / GOPCLNTAB_STEP_BYTES;
	size_t at = file_off % GOPCLNTAB_STEP_BYTES;

	if (file_off >= table->funcs_off)
		return GOPCLNTAB_NONE;
	if (!table->values)
		table->values = calloc(table->n_blocks, sizeof(*table->values));
	if (!table->values)
		return -ENOMEM;
	struct gopclntab_block *block = &table->values[number % table->n_blocks];
	if (block->end != (number + 1) * GOPCLNTAB_STEP_BYTES) {
		int r = read_block(table, block, number);

		if (r < 0)
			return r;
	}
	if (at >= block->n)
		return GOPCLNTAB_NONE;
	*ret_byte = block->bytes[at];
	return 0;
}

static inline int read_varint(struct gopclntab *table, struct gopclntab_values *values,
			      uint32_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < MAX_VARINT_BYTES; i++) {
		uint8_t byte;
		int r = read_value_byte(table, values->file_off, &byte);

		if (r != 0)
			return r;
		values->file_off++;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80)) {
			*ret_value = (uint32_t)value;
			return 0;
		}
	}
	return GOPCLNTAB_NONE;
}

int gopclntab_values_next(struct gopclntab *table, struct gopclntab_values *values,
			  struct gopclntab_range *ret_range)
{
	uint32_t step, distance;

	if (values->pc >= values->end)
		return GOPCLNTAB_NONE;
	int r = read_varint(table, values, &step);
	if (r != 0)
		return r;
	/* A step of 0 is the end, but for the first: a value that stays −1. */
	if (step == 0 && values->started)
		return GOPCLNTAB_NONE;
	r = read_varint(table, values, &distance);
	if (r != 0)
		return r;
	if (distance == 0)
		return GOPCLNTAB_NONE;
	values->started = true;
	/* Zigzag, modulo 2^32. */
	values->value = (int32_t)((uint32_t)values->value + ((step >> 1) ^ -(step & 1)));
	uint64_t bytes = MIN_OF((uint64_t)distance * table->quantum, values->end - values->pc);
	*ret_range = (struct gopclntab_range){ values->pc, values->pc + bytes, values->value };
	values->pc += bytes;
	return 0;
}

int gopclntab_code(struct gopclntab *table, uint64_t vaddr, void *dst, size_t n)
{
	uint64_t file_off;

	if (!elf_file_off(table->elf, vaddr, &file_off))
		return -ENODATA;
	return read_part(table, GOPCLNTAB_PART_CODE, file_off, dst, n);
}

/* The functions lie in the object's text. */
static int check_text(struct gopclntab *table)
{
	uint64_t text_begin, text_end, first, last, record;

	if (!elf_text_range(table->elf, &text_begin, &text_end))
		return GOPCLNTAB_NONE;
	int r = gopclntab_entry(table, 0, &first, &record);
	if (r != 0)
		return r;
	r = gopclntab_entry(table, table->n_funcs, &last, &record);
	if (r != 0)
		return r;
	if (first >= last || last > UINT64_MAX - table->text || table->text + first < text_begin ||
	    table->text + last > text_end)
		return GOPCLNTAB_NONE;
	return 0;
}

void gopclntab_expect_all(struct gopclntab *table)
{
	if (!table->values)
		table->n_blocks = GOPCLNTAB_N_BLOCKS;
}

int gopclntab_new(struct elf *elf, struct gopclntab **ret_table)
{
	_cleanup_(gopclntab_freep) struct gopclntab *table = NULL;

	if (!elf_is_64(elf) || (elf_machine(elf) != EM_X86_64 && elf_machine(elf) != EM_AARCH64))
		return GOPCLNTAB_NONE;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->elf = elf;
	table->n_blocks = GOPCLNTAB_N_BLOCKS_FEW;
	table->quantum = elf_machine(elf) == EM_AARCH64 ? 4 : 1;
	int r = gopclntab_locate(table, &table->text);
	if (r != 0)
		return r;
	if (table->version != GOPCLNTAB_1_16 && table->text == 0) {
		r = gopclntab_module_text(table, &table->text);
		if (r != 0)
			return r;
	}
	r = check_text(table);
	if (r != 0)
		return r;
	*ret_table = TAKE_PTR(table);
	return 0;
}

void gopclntab_free(struct gopclntab *table)
{
	if (!table)
		return;
	free(table->values);
	free(table);
}

enum gopclntab_version gopclntab_version(const struct gopclntab *table)
{
	return table->version;
}

uint64_t gopclntab_vaddr(const struct gopclntab *table)
{
	return table->vaddr;
}

uint64_t gopclntab_n_bytes(const struct gopclntab *table)
{
	return table->funcs_off - table->file_off +
	       (uint64_t)table->n_funcs * layouts[table->version].functab_entry_bytes;
}

uint32_t gopclntab_n_funcs(const struct gopclntab *table)
{
	return table->n_funcs;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-made Go programs with files, lines and inlined calls, as each version lays them out.
 *
 *	main.outer (256 bytes): 0 to 16 its own, 16 to 32 main.leaf in main.mid in it, 32 to 48 main.mid in it, then its own
 */
#ifndef XAGENT_TESTS_UNIT_OBJECT_GO_SYMBOLS_FIXTURE_H
#define XAGENT_TESTS_UNIT_OBJECT_GO_SYMBOLS_FIXTURE_H

#include "tests/unit/agent/object/go/go_fixture.h"

/* Places in the table's segment that go_image_make() leaves free. */
#define GO_RECORD_AT 0xa00 /* of main.outer, moved where there is room behind it */
#define GO_TREE_AT 0xc00
#define GO_TREES_AT 0xb00 /* runtime.gofunc */
#define GO_UNITS_AT 0x180
#define GO_FILES_AT 0x1c0
/* In pctab. */
#define GO_FILE_VALUES 0x100
#define GO_LINE_VALUES 0x120
#define GO_CALL_VALUES 0x140
#define GO_UNIT 2
/* So that pointers behind them must be aligned. */
#define GO_N_PCDATA 4

static const struct go_func go_outer_funcs[] = {
	{ .name = "main.outer", .n_bytes = 0x100, .values = { 0x02, 0x40, 0x00 } },
	{ .name = "main.leaf[go.shape.[]int,main.T[string]].func1",
	  .n_bytes = 0x40,
	  .values = { 0x02, 0x40, 0x00 } },
	{ .name = "main.(*T[...]).mid", .n_bytes = 0x40, .values = { 0x02, 0x40, 0x00 } },
	{ .name = "c_function", .n_bytes = 0x40, .no_values = true },
};

/* A value and for how many bytes it holds. */
struct go_value {
	int32_t value;
	uint32_t n_bytes;
};

static inline size_t go_put_varint(struct go_image *image, uint64_t off, uint32_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		go_put(image, off + n++, (value & 0x7f) | 0x80, 1);
	go_put(image, off + n, value, 1);
	return n + 1;
}

static inline void go_put_values(struct go_image *image, uint32_t place,
				 const struct go_value *values, size_t n, uint32_t quantum)
{
	uint64_t off = GO_TABLE_OFF + GO_VALUES_AT + place;
	int32_t last = -1;

	for (size_t i = 0; i < n; i++) {
		uint32_t step = (uint32_t)values[i].value - (uint32_t)last;

		off += go_put_varint(image, off, step << 1 ^ -(step >> 31));
		off += go_put_varint(image, off, values[i].n_bytes / quantum);
		last = values[i].value;
	}
	go_put(image, off, 0, 1);
}

static inline void go_put_all_values(struct go_image *image, uint32_t quantum)
{
	static const struct go_value files[] = { { 1, 16 }, { 0, 16 }, { 1, 224 } };
	static const struct go_value lines[] = { { 10, 16 }, { 700, 16 }, { 52, 16 }, { 13, 208 } };
	static const struct go_value calls[] = { { -1, 16 }, { 1, 16 }, { 0, 16 }, { -1, 208 } };

	go_put_values(image, GO_FILE_VALUES, files, ARRAY_SIZE(files), quantum);
	go_put_values(image, GO_LINE_VALUES, lines, ARRAY_SIZE(lines), quantum);
	go_put_values(image, GO_CALL_VALUES, calls, ARRAY_SIZE(calls), quantum);
}

/* A call of the tree: the function of a number, called from so many bytes behind the begin. */
static inline void go_put_call(struct go_image *image, uint32_t magic, size_t i, uint32_t name_off,
			       uint32_t caller)
{
	bool is_old = magic != GO_1_20;
	uint64_t at = GO_TABLE_OFF + GO_TREE_AT + i * (is_old ? 20 : 16);

	go_put(image, at + (is_old ? 12 : 4), name_off, 4);
	go_put(image, at + (is_old ? 16 : 8), caller, 4);
}

static inline size_t go_record_bytes(uint32_t magic)
{
	return magic == GO_1_18 ? 40 : 44;
}

/* The place of the distance or pointer that leads to the tree. */
static inline uint64_t go_tree_word(uint32_t magic)
{
	uint64_t at = GO_TABLE_OFF + GO_FUNCS_AT + GO_RECORD_AT + go_record_bytes(magic) +
		      GO_N_PCDATA * 4;

	return magic == GO_1_16 ? ((at + 7) & ~(uint64_t)7) + 24 : at + 12;
}

/* Where the members from pcfile on are. */
static inline uint64_t go_record_pcfile(uint32_t magic)
{
	return GO_TABLE_OFF + GO_FUNCS_AT + GO_RECORD_AT + (magic == GO_1_16 ? 24 : 20);
}

/* Gives the first function its lines and its tree. */
static inline void go_put_outer(struct go_image *image, uint32_t magic)
{
	size_t word = magic == GO_1_16 ? 8 : 4;
	uint64_t record = GO_TABLE_OFF + GO_FUNCS_AT + GO_RECORD_AT;
	uint64_t pcfile = go_record_pcfile(magic);

	memcpy(image->bytes + record, image->bytes + GO_TABLE_OFF + GO_FUNCS_AT + GO_RECORDS_AT,
	       48);
	go_put(image, GO_TABLE_OFF + GO_FUNCS_AT + word, GO_RECORD_AT, word);
	go_put(image, pcfile, GO_FILE_VALUES, 4);
	go_put(image, pcfile + 4, GO_LINE_VALUES, 4);
	go_put(image, pcfile + 8, GO_N_PCDATA, 4);
	go_put(image, pcfile + 12, GO_UNIT, 4);
	go_put(image, record + go_record_bytes(magic) - 1, 4, 1);
	go_put(image, record + go_record_bytes(magic) + 8, GO_CALL_VALUES, 4);
	if (magic == GO_1_16)
		go_put(image, go_tree_word(magic), GO_TABLE_VADDR + GO_TREE_AT, 8);
	else
		go_put(image, go_tree_word(magic), GO_TREE_AT - GO_TREES_AT, 4);
}

/* `text`: as for go_image_make(). */
static inline void go_symbols_image(struct go_image *image, uint16_t machine, uint32_t magic,
				    uint64_t text)
{
	static const char files[] = "\0/src/leaf.go\0main.go";
	const uint32_t units[] = { 77, 77, 1, 14, UINT32_MAX };
	uint32_t leaf = (uint32_t)strlen(go_outer_funcs[0].name) + 1;
	uint32_t mid = leaf + (uint32_t)strlen(go_outer_funcs[1].name) + 1;

	go_image_make(image, machine, magic, text, go_outer_funcs, ARRAY_SIZE(go_outer_funcs));
	memcpy(image->bytes + GO_TABLE_OFF + GO_UNITS_AT, units, sizeof(units));
	memcpy(image->bytes + GO_TABLE_OFF + GO_FILES_AT, files, sizeof(files));
	go_put_all_values(image, machine == EM_AARCH64 ? 4 : 1);
	go_put_outer(image, magic);
	go_put_call(image, magic, 0, mid, 8);
	go_put_call(image, magic, 1, leaf, 36);
	go_put(image, GO_MODULE_OFF + (magic == GO_1_18 ? 304 : 320), GO_TABLE_VADDR + GO_TREES_AT,
	       8);
}

#endif

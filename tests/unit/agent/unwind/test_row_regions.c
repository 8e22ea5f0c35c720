/* SPDX-License-Identifier: Apache-2.0 */
/* Segments at distances of their own from their bytes in the file: where their rows lie in the table. */
#include "agent/util/macro.h"
#include "tests/support/fake_unwind.h"
#include "tests/support/unit.h"

#define MAX_BYTES ((size_t)1 << 20)
#define MAX_PLACES (ROW_REGIONS_MAX + 1)

struct place {
	uint64_t vaddr;
	uint64_t file_off;
	uint64_t n_bytes;
};

struct region_row {
	const char *name;
	struct place places[MAX_PLACES]; /* of executable segments, up to the first without bytes */
	bool found;
	size_t n;
	uint64_t bias;
};

static struct region_row region_rows[] = {
	{ "one", { { 0x401000, 0x1000, 0x800 } }, true, 1, 0x400000 },
	{ "two at one distance",
	  { { 0x401000, 0x1000, 0x800 }, { 0x403000, 0x3000, 0x800 } },
	  true,
	  1,
	  0x400000 },
	{ "two distances",
	  { { 0x401000, 0x1000, 0x800 }, { 0x900000, 0x2000, 0x800 } },
	  true,
	  2,
	  0x400000 },
	{ "the other way round in the file",
	  { { 0x401000, 0x5000, 0x800 }, { 0x900000, 0x2000, 0x800 } },
	  true,
	  2,
	  0x8fe000 },
	{ "one behind the other",
	  { { 0x401000, 0x1000, 0x1000 }, { 0x900000, 0x2000, 0x800 } },
	  true,
	  2,
	  0x400000 },
	{ "bytes of both",
	  { { 0x401000, 0x1000, 0x1001 }, { 0x900000, 0x2000, 0x800 } },
	  false,
	  0,
	  0 },
	{ "the same bytes twice",
	  { { 0x401000, 0x1000, 0x800 }, { 0x900000, 0x1000, 0x800 } },
	  false,
	  0,
	  0 },
	{ "at the end of all addresses",
	  { { 0xfffffffffffff000, 0x1000, 0x800 }, { 0x900000, 0x2000, 0x800 } },
	  false,
	  0,
	  0 },
	{ "none", { { 0 } }, true, 1, 0 },
	{ "more than there is room for",
	  { { 0x1000, 0x1000, 8 },
	    { 0x3000, 0x2000, 8 },
	    { 0x5000, 0x3000, 8 },
	    { 0x7000, 0x4000, 8 },
	    { 0x9000, 0x5000, 8 },
	    { 0xb000, 0x6000, 8 },
	    { 0xd000, 0x7000, 8 },
	    { 0xf000, 0x8000, 8 },
	    { 0x11000, 0x9000, 8 } },
	  false,
	  0,
	  0 },
};

/* Headers of a file whose code nobody reads. */
struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[MAX_PLACES];
};

static struct elf *file_new(struct file *file, const struct place *places)
{
	struct elf *elf = NULL;

	*file = (struct file){
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct file, segments),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr) },
	};
	for (size_t i = 0; i < MAX_PLACES && places[i].n_bytes > 0; i++)
		file->segments[file->header.e_phnum++] = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = places[i].vaddr,
			.p_offset = places[i].file_off,
			.p_filesz = places[i].n_bytes,
			.p_memsz = places[i].n_bytes,
		};
	assert_int_equal(elf_new(bytes_from_memory(file, sizeof(*file)), &elf), 0);
	return elf;
}

static void finds_regions(void **state)
{
	const struct region_row *row = *state;
	struct row_regions regions = { 0 };
	struct file file;
	_cleanup_(elf_freep) struct elf *elf = file_new(&file, row->places);

	assert_int_equal(row_regions_find(elf, &regions), row->found);
	if (!row->found)
		return;
	assert_int_equal(regions.n, row->n);
	assert_int_equal(regions.bias, row->bias);
	for (size_t i = 0; row->places[i].n_bytes > 0; i++)
		for (uint64_t k = 0; k < row->places[i].n_bytes; k += 4) {
			uint64_t vaddr = row->places[i].vaddr + k;
			uint64_t place = row->places[i].file_off + k + row->bias;

			assert_int_equal(row_regions_place(&regions, vaddr), place);
			assert_int_equal(row_regions_vaddr(&regions, place), vaddr);
		}
}

static struct unwind_rule rule_number(int32_t n)
{
	return (struct unwind_rule){ .cfa = RULE_CFA_REG,
				     .cfa_reg = RULE_X86_RSP,
				     .cfa_off = 8 * n,
				     .ra = RULE_RA_CFA,
				     .ra_off = -8 };
}

/* Two functions in the segment that is first in memory, one in the other, one that is in none. */
#define NEAR 0x401000ULL
#define FAR 0x900000ULL

static const struct place crossed[MAX_PLACES] = { { NEAR, 0x5000, 0x800 }, { FAR, 0x2000, 0x400 } };

static void place_table(const struct row_table *table, struct kernel_arena **ret_arena,
			struct wire_object *ret_object)
{
	const struct kernel_arena_options options = { .segments_fd = -1, .max_segments = 1 };

	assert_int_equal(kernel_arena_new(&options, ret_arena), 0);
	assert_int_equal(row_table_place(table, *ret_arena, ret_object), 0);
	ret_object->base_vaddr -= row_table_regions(table)->bias;
}

static void check(const struct kernel_arena *arena, const struct wire_object *object,
		  uint64_t begin, uint64_t end, int32_t n)
{
	for (uint64_t off = begin; off < end; off++) {
		struct unwind_rule found;

		row_table_lookup(arena, object, off, &found);
		assert_int_equal(found.cfa, n > 0 ? RULE_CFA_REG : RULE_CFA_NONE);
		assert_int_equal(found.cfa_off, 8 * n);
	}
}

/* By file offset each byte has the rule of its own address. */
static void rows_lie_by_file_offset(void **state)
{
	const struct fake_row rows[] = { { NEAR, rule_number(2) },
					 { NEAR + 0x100, rule_number(3) },
					 { NEAR + 0x180, rule_number(4) },
					 { FAR - 0x1000, rule_number(5) },
					 { FAR + 0x10, rule_number(6) } };
	const struct fake_span spans[] = { { NEAR, 0x100, rows, 1 },
					   { NEAR + 0x100, 0x600, rows + 1, 2 },
					   { FAR - 0x1000, 0x100, rows + 3, 1 },
					   { FAR + 0x10, 0x3f0, rows + 4, 1 } };
	struct file file;
	_cleanup_(elf_freep) struct elf *elf = file_new(&file, crossed);
	_cleanup_(unwind_info_freep) struct unwind_info *info = NULL;
	_cleanup_(row_table_freep) struct row_table *table = NULL;
	_cleanup_(kernel_arena_freep) struct kernel_arena *arena = NULL;
	struct wire_object object;

	(void)state;
	assert_int_equal(unwind_info_new_empty(dwarf_abi(EM_X86_64), &info), 0);
	assert_true(fake_source_add(info, spans, ARRAY_SIZE(spans)));
	assert_int_equal(row_table_build(info, elf, MAX_BYTES, &table), 0);
	place_table(table, &arena, &object);
	check(arena, &object, 0x1f00, 0x2010, 0);
	check(arena, &object, 0x2010, 0x2400, 6);
	check(arena, &object, 0x2400, 0x5000, 0);
	check(arena, &object, 0x5000, 0x5100, 2);
	check(arena, &object, 0x5100, 0x5180, 3);
	check(arena, &object, 0x5180, 0x5700, 4);
	check(arena, &object, 0x5700, 0x6000, 0);
	assert_int_equal(row_table_stats(table)->n_text_bytes, 0xc00);
	assert_int_equal(row_table_stats(table)->n_covered_bytes, 0x700 + 0x3f0);
	assert_int_equal(row_table_stats(table)->n_dropped_rows, 0);
}

/* Rows of one could be the other's. */
static void bytes_of_two_have_no_table(void **state)
{
	const struct place same[MAX_PLACES] = { { NEAR, 0x1000, 0x800 }, { FAR, 0x1000, 0x800 } };
	struct file file;
	_cleanup_(elf_freep) struct elf *elf = file_new(&file, same);
	_cleanup_(unwind_info_freep) struct unwind_info *info = NULL;
	_cleanup_(row_table_freep) struct row_table *table = NULL;

	(void)state;
	assert_int_equal(unwind_info_new_empty(dwarf_abi(EM_X86_64), &info), 0);
	assert_int_equal(row_table_build(info, elf, MAX_BYTES, &table), ROW_TABLE_TOO_LARGE);
}

static const struct unit_test tests[] = {
	TEST_ROWS(finds_regions, region_rows, name),
	TEST(rows_lie_by_file_offset),
	TEST(bytes_of_two_have_no_table),
};

TEST_MAIN(tests)

/* SPDX-License-Identifier: Apache-2.0 */
/* CIEs, FDEs and their pointers, well made and otherwise; each case is a section. */
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/cfi/cfi_fixture.h"

#define DEBUG_CIE_ID 0xffffffff

/* CFA = rsp + 8, RA at CFA − 8; behind code and data alignment and column. */
#define ALIGNMENTS 1, 0x78, 16
#define PROGRAM 0x0c, 7, 8, 0x90, 1

static const struct unwind_rule at_entry = {
	.cfa = RULE_CFA_REG, .cfa_reg = 7, .cfa_off = 8, .ra_off = -8
};

struct cie_row {
	const char *name;
	uint8_t version;
	uint8_t cie[48]; /* behind the version */
	size_t n_cie;
	uint8_t fde[48]; /* behind the CIE pointer */
	size_t n_fde;
	uint64_t begin; /* of what is found; 0: nothing */
	uint64_t n_bad_cies;
	uint64_t n_bad_fdes;
	bool is_signal;
	bool is_debug;
};

#define CIE(...) .cie = { __VA_ARGS__ }, .n_cie = sizeof((uint8_t[]){ __VA_ARGS__ })
#define FDE(...) .fde = { __VA_ARGS__ }, .n_fde = sizeof((uint8_t[]){ __VA_ARGS__ })
/* begin and length as 8 bytes each, no augmentation data */
#define FDE_ABS 0, 0x20, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0
#define FDE_ABS_0 FDE_ABS, 0
/* Encoding e, and an FDE in it. */
#define CIE_R(e) 'z', 'R', 0, ALIGNMENTS, 1, e, PROGRAM

static struct cie_row cie_rows[] = {
	{ .name = "version 1, no augmentation",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .begin = 0x2000 },
	{ .name = "version 3: column is a LEB128",
	  .version = 3,
	  CIE(0, 1, 0x78, 0x90, 0, PROGRAM),
	  FDE(FDE_ABS),
	  .begin = 0x2000 },
	{ .name = "version 4: sizes of addresses and segments",
	  .version = 4,
	  CIE(0, 8, 0, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .begin = 0x2000 },
	{ .name = "version 4: addresses of 4 bytes",
	  .version = 4,
	  CIE(0, 4, 0, ALIGNMENTS, PROGRAM),
	  FDE(0, 0x20, 0, 0, 32, 0, 0, 0),
	  .begin = 0x2000 },
	{ .name = "version 4: a segment selector",
	  .version = 4,
	  CIE(0, 8, 2, ALIGNMENTS, PROGRAM),
	  FDE(9, 9, FDE_ABS),
	  .begin = 0x2000 },
	{ .name = "version 4: addresses of 2 bytes",
	  .version = 4,
	  CIE(0, 2, 0, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "version 4: a segment selector of 9 bytes",
	  .version = 4,
	  CIE(0, 8, 9, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "version 2",
	  .version = 2,
	  CIE(0, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "version 5",
	  .version = 5,
	  CIE(0, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "z alone",
	  .version = 1,
	  CIE('z', 0, ALIGNMENTS, 0, PROGRAM),
	  FDE(FDE_ABS_0),
	  .begin = 0x2000 },
	{ .name = "zPLR",
	  .version = 1,
	  CIE('z', 'P', 'L', 'R', 0, ALIGNMENTS, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x00, PROGRAM),
	  FDE(FDE_ABS, 4, 1, 2, 3, 4),
	  .begin = 0x2000 },
	{ .name = "zP without a pointer",
	  .version = 1,
	  CIE('z', 'P', 0, ALIGNMENTS, 1, 0xff, PROGRAM),
	  FDE(FDE_ABS_0),
	  .begin = 0x2000 },
	{ .name = "zRS: signal frame",
	  .version = 1,
	  CIE('z', 'R', 'S', 0, ALIGNMENTS, 1, 0x00, PROGRAM),
	  FDE(FDE_ABS_0),
	  .begin = 0x2000,
	  .is_signal = true },
	{ .name = "zRBG: keys and tags of AArch64",
	  .version = 1,
	  CIE('z', 'R', 'B', 'G', 0, ALIGNMENTS, 1, 0x00, PROGRAM),
	  FDE(FDE_ABS_0),
	  .begin = 0x2000 },
	{ .name = "unknown letter behind z",
	  .version = 1,
	  CIE('z', 'R', 'Q', 0, ALIGNMENTS, 3, 0x00, 9, 9, PROGRAM),
	  FDE(FDE_ABS, 1, 9),
	  .begin = 0x2000 },
	{ .name = "unknown letter without z",
	  .version = 1,
	  CIE('Q', 0, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "R and S without z",
	  .version = 1,
	  CIE('R', 'S', 0, ALIGNMENTS, 0x00, PROGRAM),
	  FDE(FDE_ABS),
	  .begin = 0x2000,
	  .is_signal = true },
	{ .name = "eh",
	  .version = 1,
	  CIE('e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .begin = 0x2000 },
	{ .name = "augmentation without an end",
	  .version = 1,
	  CIE('z', 'R', 'R', 'R'),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "augmentation data shorter than its letters",
	  .version = 1,
	  CIE('z', 'P', 'R', 0, ALIGNMENTS, 2, 0x00, 1),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "augmentation data longer than the CIE",
	  .version = 1,
	  CIE('z', 'R', 0, ALIGNMENTS, 99, 0),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "CIE ends before its column",
	  .version = 1,
	  CIE(0, 1, 0x78),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "CIE with an unknown instruction",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM, 0x3f),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "CIE that moves on",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM, 0x41),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "CIE that restores",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM, 0xc6),
	  FDE(FDE_ABS),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "uleb128",
	  .version = 1,
	  CIE(CIE_R(0x01)),
	  FDE(0x80, 0x40, 32, 0),
	  .begin = 0x2000 },
	{ .name = "udata2",
	  .version = 1,
	  CIE(CIE_R(0x02)),
	  FDE(0, 0x20, 32, 0, 0),
	  .begin = 0x2000 },
	{ .name = "udata4",
	  .version = 1,
	  CIE(CIE_R(0x03)),
	  FDE(0, 0x20, 0, 0, 32, 0, 0, 0, 0),
	  .begin = 0x2000 },
	{ .name = "udata8", .version = 1, CIE(CIE_R(0x04)), FDE(FDE_ABS_0), .begin = 0x2000 },
	{ .name = "signed", .version = 1, CIE(CIE_R(0x08)), FDE(FDE_ABS_0), .begin = 0x2000 },
	{ .name = "sleb128",
	  .version = 1,
	  CIE(CIE_R(0x09)),
	  FDE(0x80, 0xc0, 0, 32, 0),
	  .begin = 0x2000 },
	{ .name = "sdata2",
	  .version = 1,
	  CIE(CIE_R(0x0a)),
	  FDE(0, 0x20, 32, 0, 0),
	  .begin = 0x2000 },
	{ .name = "sdata8", .version = 1, CIE(CIE_R(0x0c)), FDE(FDE_ABS_0), .begin = 0x2000 },
	/* The pointer is 8 bytes into its FDE, which begins behind 24 bytes of CIE: at 0x10020. */
	{ .name = "pcrel, sdata4",
	  .version = 1,
	  CIE(CIE_R(0x1b), 0, 0),
	  FDE(0xe0, 0x1f, 0xff, 0xff, 32, 0, 0, 0, 0),
	  .begin = 0x2000 },
	{ .name = "pcrel, stored 0 stays 0",
	  .version = 1,
	  CIE(CIE_R(0x1b), 0, 0),
	  FDE(0, 0, 0, 0, 32, 0, 0, 0, 0) },
	{ .name = "textrel",
	  .version = 1,
	  CIE(CIE_R(0x23)),
	  FDE(0, 0x10, 0, 0, 32, 0, 0, 0, 0),
	  .begin = 0x2000 },
	{ .name = "datarel",
	  .version = 1,
	  CIE(CIE_R(0x3b)),
	  FDE(0, 0xa0, 0xff, 0xff, 32, 0, 0, 0, 0),
	  .begin = 0x2000 },
	{ .name = "funcrel",
	  .version = 1,
	  CIE(CIE_R(0x43)),
	  FDE(0, 0x20, 0, 0, 32, 0, 0, 0, 0),
	  .begin = 0x2000 },
	{ .name = "aligned",
	  .version = 1,
	  CIE(CIE_R(0x50), 0),
	  FDE(0, FDE_ABS_0),
	  .begin = 0x2000 },
	{ .name = "indirect is not followed",
	  .version = 1,
	  CIE(CIE_R(0x83)),
	  FDE(0, 0x20, 0, 0, 32, 0, 0, 0, 0),
	  .begin = 0x2000 },
	{ .name = "format 5",
	  .version = 1,
	  CIE(CIE_R(0x05)),
	  FDE(FDE_ABS_0),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "application 0x60",
	  .version = 1,
	  CIE(CIE_R(0x60)),
	  FDE(FDE_ABS_0),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "no pointers at all",
	  .version = 1,
	  CIE(CIE_R(0xff)),
	  FDE(FDE_ABS_0),
	  .n_bad_cies = 1,
	  .n_bad_fdes = 1 },
	{ .name = "begin 0 was dropped by the linker",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM),
	  FDE(0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0) },
	{ .name = "begin of all ones, likewise",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM),
	  FDE(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 32, 0, 0, 0, 0, 0, 0, 0) },
	{ .name = "no length",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM),
	  FDE(0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
	{ .name = "over the end of addresses",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM),
	  FDE(0, 0x20, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	  .n_bad_fdes = 1 },
	{ .name = "FDE ends before its length",
	  .version = 1,
	  CIE(0, ALIGNMENTS, PROGRAM),
	  FDE(0, 0x20, 0, 0, 0, 0, 0, 0, 32),
	  .n_bad_fdes = 1 },
	{ .name = ".debug_frame",
	  .version = 4,
	  CIE(0, 8, 0, ALIGNMENTS, PROGRAM),
	  FDE(FDE_ABS),
	  .begin = 0x2000,
	  .is_debug = true },
};

static void put_fde(struct fixture_bytes *b, const struct cie_row *row)
{
	size_t begin = entry_begin(b);

	put_number(b, row->is_debug ? 0 : begin, 4); /* the CIE is the first of the section */
	put(b, row->fde, row->n_fde);
	entry_end(b, begin);
}

/* A good FDE behind it, with a CIE of its own, is found whatever the case. */
static void put_good(struct fixture_bytes *b, const struct cie_row *row)
{
	static const uint8_t rest[] = { 0, ALIGNMENTS, PROGRAM };
	static const uint8_t where[] = { 0, 0x30, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0 };
	size_t cie = put_cie(b, row->is_debug ? DEBUG_CIE_ID : 0, 1, rest, sizeof(rest));
	size_t begin = entry_begin(b);

	put_number(b, row->is_debug ? cie : begin - cie, 4);
	put(b, where, sizeof(where));
	entry_end(b, begin);
}

static void reads(void **state)
{
	const struct cie_row *row = *state;
	struct unwind_source_stats stats = { 0 };
	struct fixture_rows rows = { .n = 0 };
	struct fixture_bytes b = { .n = 0 };
	struct fixture_image image;
	struct unwind_rule rule = at_entry;
	size_t i = 0;

	put_cie(&b, row->is_debug ? DEBUG_CIE_ID : 0, row->version, row->cie, row->n_cie);
	put_fde(&b, row);
	put_good(&b, row);
	assert_int_equal(image_open_section(&image, EM_X86_64, row->is_debug, &b), 0);
	assert_int_equal(image_rows(&image, &rows, &stats), 0);
	if (row->is_signal) {
		rule.ra = RULE_RA_SIGNAL;
		rule.ra_off = 0;
	}
	assert_int_equal(rows.n, row->begin ? 2 : 1);
	if (row->begin) {
		assert_int_equal(rows.at[i].vaddr, row->begin);
		assert_memory_equal(&rows.at[i++].rule, &rule, sizeof(rule));
	}
	assert_int_equal(rows.at[i].vaddr, 0x3000);
	assert_memory_equal(&rows.at[i].rule, &at_entry, sizeof(at_entry));
	assert_int_equal(stats.n_bad_cies, row->n_bad_cies);
	assert_int_equal(stats.n_bad_fdes, row->n_bad_fdes);
	assert_int_equal(stats.n_bytes, b.n);
	/* The end of what is found is the end. */
	assert_int_equal(image.source->rule_at(image.source, 0x3008, &rule), UNWIND_SOURCE_NONE);
	assert_int_equal(image.source->rule_at(image.source, 0x2020, &rule), UNWIND_SOURCE_NONE);
	image_close(&image);
}

/* Sections that are more than a CIE and an FDE. */
struct whole {
	struct fixture_bytes b;
	struct fixture_image image;
	struct fixture_rows rows;
	struct unwind_source_stats stats;
	size_t cie;
};

static void begin_whole(struct whole *w)
{
	*w = (struct whole){ .b = { .n = 0 } };
	w->cie = put_eh_cie(&w->b, EM_X86_64);
}

static void add_fde(struct whole *w, uint64_t begin, uint64_t n_bytes, uint8_t cfa_off)
{
	const uint8_t program[] = { 0x0e, cfa_off };

	put_eh_fde(&w->b, w->cie, begin, n_bytes, program, sizeof(program));
}

static void read_whole(struct whole *w, size_t n_rows)
{
	assert_int_equal(image_open_section(&w->image, EM_X86_64, false, &w->b), 0);
	assert_int_equal(image_rows(&w->image, &w->rows, &w->stats),
			 n_rows ? 0 : UNWIND_SOURCE_NONE);
	assert_int_equal(w->rows.n, n_rows);
	image_close(&w->image);
}

static void expect_row(const struct whole *w, size_t i, uint64_t vaddr, int32_t cfa_off)
{
	assert_int_equal(w->rows.at[i].vaddr, vaddr);
	assert_int_equal(w->rows.at[i].rule.cfa_off, cfa_off);
}

static void goes_on_behind_terminators(void **state)
{
	static struct whole w;

	(void)state;
	begin_whole(&w);
	add_fde(&w, 0x2000, 16, 16);
	put_number(&w.b, 0, 4);
	add_fde(&w, 0x2100, 16, 24);
	put_number(&w.b, 0, 4);
	put_number(&w.b, 0, 4);
	add_fde(&w, 0x2200, 16, 32);
	read_whole(&w, 3);
	expect_row(&w, 0, 0x2000, 16);
	expect_row(&w, 1, 0x2100, 24);
	expect_row(&w, 2, 0x2200, 32);
	assert_int_equal(w.stats.n_bad_fdes, 0);
}

static void puts_in_order_and_cuts(void **state)
{
	static struct whole w;

	(void)state;
	begin_whole(&w);
	add_fde(&w, 0x3000, 16, 40); /* behind all others */
	add_fde(&w, 0x2010, 32, 24); /* its first half is the next one's */
	add_fde(&w, 0x2000, 32, 16);
	add_fde(&w, 0x2000, 40, 32); /* of the same begin, but later: its tail is another's */
	add_fde(&w, 0x2008, 8, 48);  /* inside */
	read_whole(&w, 4);
	expect_row(&w, 0, 0x2000, 16);
	expect_row(&w, 1, 0x2020, 32);
	expect_row(&w, 2, 0x2028, 24);
	expect_row(&w, 3, 0x3000, 40);
	assert_int_equal(w.stats.n_overlaps, 3);
	assert_int_equal(w.stats.n_spans, 4);
}

static void long_lengths(void **state)
{
	static const uint8_t program[] = { 0, 0x0e, 16 };
	static struct whole w;

	(void)state;
	begin_whole(&w);
	put_number(&w.b, 0xffffffff, 4);
	put_number(&w.b, 4 + 16 + sizeof(program), 8);
	put_number(&w.b, w.b.n - w.cie, 4); /* LSB: 4 bytes also here */
	put_number(&w.b, 0x2000, 8);
	put_number(&w.b, 16, 8);
	put(&w.b, program, sizeof(program));
	add_fde(&w, 0x2100, 16, 24);
	read_whole(&w, 2);
	expect_row(&w, 0, 0x2000, 16);
	expect_row(&w, 1, 0x2100, 24);
}

static void long_lengths_of_debug_frame(void **state)
{
	static const uint8_t cie[] = { 4, 0, 8, 0, ALIGNMENTS, PROGRAM };
	static struct whole w;

	(void)state;
	w = (struct whole){ .b = { .n = 0 } };
	put_number(&w.b, 0, 4); /* so that the CIE is not at 0 */
	put_number(&w.b, 0xffffffff, 4);
	put_number(&w.b, 8 + sizeof(cie), 8);
	put_number(&w.b, UINT64_MAX, 8);
	put(&w.b, cie, sizeof(cie));
	put_number(&w.b, 0xffffffff, 4);
	put_number(&w.b, 24, 8);
	put_number(&w.b, 4, 8);
	put_number(&w.b, 0x2000, 8);
	put_number(&w.b, 16, 8);
	assert_int_equal(image_open_section(&w.image, EM_X86_64, true, &w.b), 0);
	assert_int_equal(image_rows(&w.image, &w.rows, &w.stats), 0);
	image_close(&w.image);
	assert_int_equal(w.rows.n, 1);
	expect_row(&w, 0, 0x2000, 8);
}

static void length_over_the_end_ends(void **state)
{
	static const uint32_t lengths[] = { 0x1000, 0xfffffff0, 0xfffffffe, 0xffffffff };
	static struct whole w;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		begin_whole(&w);
		add_fde(&w, 0x2000, 16, 16);
		put_number(&w.b, lengths[i], 4);
		put_number(&w.b, 0x7fffffffffffffff, 8);
		add_fde(&w, 0x2100, 16, 24);
		read_whole(&w, 1);
		assert_int_equal(w.stats.n_bad_fdes, 1);
	}
}

static void entry_too_short_for_its_id(void **state)
{
	static struct whole w;

	(void)state;
	begin_whole(&w);
	put_number(&w.b, 3, 4);
	put_number(&w.b, 0, 3);
	add_fde(&w, 0x2000, 16, 16);
	read_whole(&w, 1);
	assert_int_equal(w.stats.n_bad_fdes, 1);
}

static void fde_that_names_no_cie(void **state)
{
	static struct whole w;

	(void)state;
	begin_whole(&w);
	add_fde(&w, 0x2000, 16, 16);
	/* Another FDE, a place between entries, in front of the section. */
	put_eh_fde(&w.b, w.b.n - 20, 0x2100, 16, NULL, 0);
	put_eh_fde(&w.b, w.cie + 4, 0x2200, 16, NULL, 0);
	put_eh_fde(&w.b, (size_t)-64, 0x2300, 16, NULL, 0);
	add_fde(&w, 0x2400, 16, 24);
	read_whole(&w, 2);
	expect_row(&w, 1, 0x2400, 24);
	assert_int_equal(w.stats.n_bad_fdes, 3);
	assert_int_equal(w.stats.n_bad_cies, 0);
}

static void more_cies_than_are_remembered(void **state)
{
	static struct whole w;

	(void)state;
	begin_whole(&w);
	for (unsigned int i = 0; i < 40; i++) {
		uint8_t rest[] = { FIXTURE_CIE_X86 };

		rest[sizeof(rest) - 3] = (uint8_t)(8 + i);
		w.cie = put_cie(&w.b, 0, 1, rest, sizeof(rest));
		put_eh_fde(&w.b, w.cie, 0x2000 + 16 * i, 16, NULL, 0);
	}
	read_whole(&w, 40);
	for (unsigned int i = 0; i < 40; i++)
		expect_row(&w, i, 0x2000 + 16 * i, (int32_t)(8 + i));
}

/* Whatever is cut off, what is whole before it is found, and nothing is read behind it. */
static void cut_anywhere(void **state)
{
	static struct whole all;
	static struct whole w;
	size_t whole_fde;

	(void)state;
	begin_whole(&all);
	add_fde(&all, 0x2000, 16, 16);
	whole_fde = all.b.n;
	add_fde(&all, 0x2100, 16, 24);
	for (size_t n = 1; n <= all.b.n; n++) {
		w = (struct whole){ .b = { .n = 0 } };
		put(&w.b, all.b.data, n);
		read_whole(&w, n == all.b.n ? 2 : n >= whole_fde ? 1 : 0);
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(reads, cie_rows, name),
	TEST(goes_on_behind_terminators),
	TEST(puts_in_order_and_cuts),
	TEST(long_lengths),
	TEST(long_lengths_of_debug_frame),
	TEST(length_over_the_end_ends),
	TEST(entry_too_short_for_its_id),
	TEST(fde_that_names_no_cie),
	TEST(more_cies_than_are_remembered),
	TEST(cut_anywhere),
};

TEST_MAIN(tests)

/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information as a source: where sections are, its table, ceilings; and installed
 * libraries, asked for everything and for single addresses. */
#include <errno.h>

#include "agent/util/macro.h"
#include "agent/util/reader.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/cfi/cfi_fixture.h"
#include "tests/unit/agent/object/fixture.h"

#define HDR_VADDR 0xf000
#define N_FDES 20
#define MAX_BYTES ((size_t)64 << 20)
/* Of windows; a library's section has some 100 KB or more. */
#define MAX_HELD_BYTES ((size_t)64 << 10)

/* N_FDES functions of 16 bytes each 32 bytes, CFA offsets 16, 24, …; and a table of them. */
struct made {
	struct fixture_bytes frame;
	struct fixture_bytes hdr;
	uint32_t fde[N_FDES];
};

static uint64_t function(size_t i)
{
	return 0x2000 + 32 * i;
}

static void make_frame(struct made *m)
{
	*m = (struct made){ .frame = { .n = 0 } };
	size_t cie = put_eh_cie(&m->frame, EM_X86_64);

	for (size_t i = 0; i < N_FDES; i++) {
		const uint8_t program[] = { 0x0e, (uint8_t)(8 + i) };

		m->fde[i] = (uint32_t)put_eh_fde(&m->frame, cie, function(i), 16, program,
						 sizeof(program));
	}
}

static void make_hdr(struct made *m, uint32_t n)
{
	put_number(&m->hdr, 0x3b031b01, 4); /* pcrel sdata4, udata4, datarel sdata4 */
	put_number(&m->hdr, FIXTURE_CFI_VADDR - (HDR_VADDR + 4), 4);
	put_number(&m->hdr, n, 4);
	for (size_t i = 0; i < N_FDES; i++) {
		put_number(&m->hdr, function(i) - HDR_VADDR, 4);
		put_number(&m->hdr, FIXTURE_CFI_VADDR + m->fde[i] - HDR_VADDR, 4);
	}
}

static void build(struct fixture_image *image, const struct made *m)
{
	const struct fixture_section sections[] = {
		{ ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, HDR_VADDR, m->hdr.data, m->hdr.n },
		{ ".eh_frame", SHT_PROGBITS, SHF_ALLOC, FIXTURE_CFI_VADDR, m->frame.data,
		  m->frame.n },
	};

	image_build(image, EM_X86_64, sections, 2);
}

static int32_t cfa_off_at(struct fixture_image *image, uint64_t vaddr)
{
	struct unwind_rule rule;
	int r = image->source->rule_at(image->source, vaddr, &rule);

	return r == 0 ? rule.cfa_off : -r;
}

static void expect_all(struct fixture_image *image)
{
	for (size_t i = 0; i < N_FDES; i++) {
		assert_int_equal(cfa_off_at(image, function(i)), 8 + i);
		assert_int_equal(cfa_off_at(image, function(i) + 15), 8 + i);
		assert_int_equal(cfa_off_at(image, function(i) + 16), -UNWIND_SOURCE_NONE);
		assert_int_equal(cfa_off_at(image, function(i) - 1), -UNWIND_SOURCE_NONE);
	}
	assert_int_equal(cfa_off_at(image, 0), -UNWIND_SOURCE_NONE);
	assert_int_equal(cfa_off_at(image, UINT64_MAX), -UNWIND_SOURCE_NONE);
}

static void finds_by_table(void **state)
{
	static struct fixture_image image;
	static struct made m;

	(void)state;
	make_frame(&m);
	make_hdr(&m, N_FDES);
	/* A function that the table does not have shows that it is the table that is asked. */
	put_eh_fde(&m.frame, 0, 0x5000, 16, NULL, 0);
	build(&image, &m);
	assert_int_equal(image_open(&image, false), 0);
	expect_all(&image);
	assert_int_equal(cfa_off_at(&image, 0x5000), -UNWIND_SOURCE_NONE);
	image_close(&image);
}

/* Tables that contradict their section, or themselves: all is found by walking. */
static void bad_table(void (*spoil)(struct made *m))
{
	static struct fixture_image image;
	static struct made m;

	make_frame(&m);
	make_hdr(&m, N_FDES);
	spoil(&m);
	build(&image, &m);
	assert_int_equal(image_open(&image, false), 0);
	expect_all(&image);
	image_close(&image);
}

static void other_begins(struct made *m)
{
	for (size_t i = 0; i < N_FDES; i++)
		m->hdr.data[12 + 8 * i] -= 1;
}

static void other_fdes(struct made *m)
{
	for (size_t i = 0; i < N_FDES; i++)
		m->hdr.data[16 + 8 * i] += 4;
}

static void fdes_outside(struct made *m)
{
	for (size_t i = 0; i < N_FDES; i++)
		m->hdr.data[16 + 8 * i + 2] = 0x70;
}

static void unordered(struct made *m)
{
	m->hdr.data[12 + 8 * (N_FDES / 2) + 2] = 0x7f;
	m->hdr.data[12 + 8 * 5 + 2] = 0x00;
	m->hdr.data[12 + 8 * 15 + 3] = 0x80;
}

static void too_many(struct made *m)
{
	m->hdr.data[8] += 1;
}

static void of_another_section(struct made *m)
{
	m->hdr.data[4] += 4;
}

static void version_2(struct made *m)
{
	m->hdr.data[0] = 2;
}

static void other_encoding(struct made *m)
{
	m->hdr.data[3] = 0x1b;
}

static void no_table(struct made *m)
{
	m->hdr.data[2] = m->hdr.data[3] = 0xff;
}

static void cut(struct made *m)
{
	m->hdr.n = 3;
}

static void walks_when_the_table_is_bad(void **state)
{
	(void)state;
	bad_table(other_begins);
	bad_table(other_fdes);
	bad_table(fdes_outside);
	bad_table(unordered);
	bad_table(too_many);
	bad_table(of_another_section);
	bad_table(version_2);
	bad_table(other_encoding);
	bad_table(no_table);
	bad_table(cut);
}

static void without_section_headers(void **state)
{
	static struct fixture_image image;
	static struct fixture_rows rows;
	static struct made m;
	struct unwind_source_stats stats = { 0 };

	(void)state;
	make_frame(&m);
	make_hdr(&m, N_FDES);
	put_number(&m.frame, 0, 4);
	/* Behind the terminator lies something else. */
	put_number(&m.frame, 0x1234567812345678, 8);
	build(&image, &m);
	memset(image.data + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	assert_int_equal(image_open(&image, false), 0);
	assert_int_equal(image_rows(&image, &rows, &stats), 0);
	assert_int_equal(rows.n, N_FDES);
	assert_int_equal(stats.n_bad_fdes, 0);
	expect_all(&image);
	image_close(&image);
}

/* The outcome for the usual file when something of it is changed. */
static int open_changed(size_t file_off, const void *bytes, size_t n, bool is_debug)
{
	static struct fixture_image image;
	static struct made m;

	make_frame(&m);
	make_hdr(&m, N_FDES);
	build(&image, &m);
	memcpy(image.data + file_off, bytes, n);
	int r = image_open(&image, is_debug);
	image_close(&image);
	return r;
}

static void has_none(void **state)
{
	static const uint16_t relocatable = ET_REL;
	static const uint16_t machine = EM_RISCV;

	(void)state;
	assert_int_equal(open_changed(0, "\x7f", 1, false), 0);
	assert_int_equal(open_changed(0, "\x7f", 1, true), UNWIND_SOURCE_NONE);
	assert_int_equal(open_changed(offsetof(Elf64_Ehdr, e_type), &relocatable, 2, false),
			 UNWIND_SOURCE_NONE);
	assert_int_equal(open_changed(offsetof(Elf64_Ehdr, e_machine), &machine, 2, false),
			 UNWIND_SOURCE_NONE);
}

static void has_no_contents(void **state)
{
	static struct fixture_image image;
	static struct made m;
	struct fixture_section section = { ".eh_frame",	      SHT_NOBITS,   SHF_ALLOC,
					   FIXTURE_CFI_VADDR, m.frame.data, 0 };

	(void)state;
	make_frame(&m);
	section.n = m.frame.n;
	image_build(&image, EM_X86_64, &section, 1);
	assert_int_equal(image_open(&image, false), UNWIND_SOURCE_NONE);
	image_close(&image);
	section.type = SHT_PROGBITS;
	section.n = 0;
	image_build(&image, EM_X86_64, &section, 1);
	assert_int_equal(image_open(&image, false), UNWIND_SOURCE_NONE);
	image_close(&image);
}

static void keeps_its_ceiling(void **state)
{
	static struct fixture_image image;
	static struct made m;
	struct unwind_source_stats stats = { 0 };

	(void)state;
	make_frame(&m);
	make_hdr(&m, N_FDES);
	build(&image, &m);
	assert_int_equal(image_open(&image, false), 0);
	/* Too small for the section; for the spans; enough. */
	const size_t sizes[] = { m.frame.n - 1, N_FDES * sizeof(struct unwind_span) - 1, 4096 };
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct unwind_spans spans = { .max_bytes = sizes[i] };
		int r = image.source->spans(image.source, &spans, &stats);

		assert_int_equal(r, i == 2 ? 0 : UNWIND_SOURCE_TOO_LARGE);
		assert_int_equal(spans.n, i == 2 ? N_FDES : 0);
		unwind_spans_fini(&spans);
		/* Single addresses need no such memory. */
		expect_all(&image);
		image.source->release(image.source);
		expect_all(&image);
	}
	image_close(&image);
}

static int use_all(struct fixture_image *image)
{
	struct unwind_spans spans = { .max_bytes = 4096 };
	struct unwind_source_stats stats = { 0 };
	struct unwind_rule rule;
	int r = image_open(image, false);

	if (r == 0)
		r = image->source->rule_at(image->source, function(3), &rule);
	if (r == 0)
		r = image->source->spans(image->source, &spans, &stats);
	unwind_spans_fini(&spans);
	image_close(image);
	return r;
}

static void survives_no_memory(void **state)
{
	static struct fixture_image image;
	static struct made m;
	size_t nth = 1;

	(void)state;
	make_frame(&m);
	make_hdr(&m, N_FDES);
	build(&image, &m);
	for (;; nth++) {
		alloc_fail_arm(nth);
		int r = use_all(&image);
		if (!alloc_fail_disarm())
			break;
		assert_true(r == -ENOMEM);
	}
	assert_true(nth > 5);
}

/* What two ways of asking say of a whole file: the spans' borders, and some addresses between. */
static void agrees_with_itself(struct unwind_source *source)
{
	struct unwind_spans spans = { .max_bytes = MAX_BYTES };
	static struct fixture_rows rows;
	struct unwind_source_stats stats = { 0 };

	assert_int_equal(source->spans(source, &spans, &stats), 0);
	assert_true(stats.n_spans > 0);
	assert_int_equal(stats.n_bad_cies, 0);
	assert_int_equal(stats.n_bad_fdes, 0);
	size_t step = spans.n / 1000 + 1;
	for (size_t i = 0; i < spans.n; i += step) {
		const struct unwind_span *span = &spans.items[i];
		struct unwind_rule rule;

		rows.n = 0;
		if (span->n_bytes > 1000)
			continue;
		assert_int_equal(source->rows(source, span, keep_row, &rows, &stats), 0);
		assert_int_equal(rows.at[0].vaddr, span->begin);
		assert_int_equal(first_different(source, span, &rows, 0),
				 span->begin + span->n_bytes);
		/* The next one, or nobody's. */
		uint64_t end = span->begin + span->n_bytes;
		bool touches = i + 1 < spans.n && spans.items[i + 1].begin == end;
		assert_int_equal(source->rule_at(source, end, &rule),
				 touches ? 0 : UNWIND_SOURCE_NONE);
	}
	unwind_spans_fini(&spans);
}

static void file_agrees(const char *path, bool is_debug)
{
	struct fixture_elf file;
	struct unwind_source *source = NULL;

	/* A disk that is busy takes longer than a loop waits. */
	reader_in_place();
	assert_int_equal(fixture_elf_open(path, &file), 0);
	assert_int_equal(is_debug ? cfi_debug_frame_new(file.elf, &source)
				  : cfi_eh_frame_new(file.elf, &source),
			 0);
	agrees_with_itself(source);
	assert_true(is_debug || cfi_bytes(source) <= MAX_HELD_BYTES);
	source->free(source);
	fixture_elf_close(&file);
}

static void installed_files_agree(void **state)
{
	static const char *const names[] = { "libc.so.6", "libstdc++.so.6", "libcrypto.so.3",
					     "libm.so.6", "libgcc_s.so.1" };
	static const char *const folders[] = { "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
					       "/lib64", "/usr/lib" };
	char path[FIXTURE_PATH_BYTES];
	int n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names) * ARRAY_SIZE(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folders[i / ARRAY_SIZE(names)],
			       names[i % ARRAY_SIZE(names)]);
		if (access(path, R_OK) != 0)
			continue;
		file_agrees(path, false);
		n++;
	}
	if (n == 0) {
		print_message("no library is installed where it is looked for\n");
		skip();
	}
}

/* Enough functions for compression to be worth it. */
static const char program_text[] =
	"#define F(n) int f##n(int x) { volatile char b[300 + n]; b[x] = 1; return b[n]; }\n"
	"#define R(n) int r##n(int x) { __attribute__((aligned(64))) volatile char b[64]; \\\n"
	"	b[x] = 2; return f##n(b[0]); }\n"
	"#define FR(n) F(n) R(n)\n"
	"FR(1) FR(2) FR(3) FR(4) FR(5) FR(6) FR(7) FR(8) FR(9) FR(10) FR(11) FR(12) FR(13)\n"
	"int main(int n, char **v) { (void)v; return r1(n) + f2(n); }\n";

struct debug_row {
	const char *name;
	const char *command; /* makes "program" of a.c, with its rules in .debug_frame */
	const char *section;
	bool is_compressed;
};

#define PLAIN                                                                               \
	"gcc -g -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions -o " \
	"program a.c"

static struct debug_row debug_rows[] = {
	{ ".debug_frame", PLAIN, ".debug_frame", false },
	{ ".debug_frame, zlib", PLAIN " && objcopy --compress-debug-sections=zlib program",
	  ".debug_frame", true },
	{ ".debug_frame, zstd", PLAIN " && objcopy --compress-debug-sections=zstd program",
	  ".debug_frame", true },
	{ ".zdebug_frame", PLAIN " && objcopy --compress-debug-sections=zlib-gnu program",
	  ".zdebug_frame", false },
	{ ".debug_frame of AArch64", "aarch64-linux-gnu-" PLAIN, ".debug_frame", false },
};

/* Tools that know no such compression leave the section as it was. */
static bool is_as_wanted(const char *path, const struct debug_row *row)
{
	struct fixture_elf file;

	if (fixture_elf_open(path, &file) != 0)
		return false;
	const struct elf_section *s = elf_load_sections(file.elf) == 0
					      ? elf_section_by_name(file.elf, row->section)
					      : NULL;
	bool as_wanted = s && !!(s->flags & SHF_COMPRESSED) == row->is_compressed;
	fixture_elf_close(&file);
	return as_wanted;
}

static void debug_frame_agrees(void **state)
{
	const struct debug_row *row = *state;
	struct fixture_dir dir;
	char path[FIXTURE_PATH_BYTES];

	assert_true(fixture_dir_init(&dir));
	bool made = fixture_write(&dir, "a.c", program_text) && fixture_run(&dir, row->command) &&
		    is_as_wanted(fixture_path(&dir, "program", path), row);
	if (made)
		file_agrees(path, true);
	fixture_dir_fini(&dir);
	if (!made) {
		print_message("cannot be made here: %s\n", row->command);
		skip();
	}
}

static void aarch64_agrees(void **state)
{
	struct fixture_dir dir;
	char path[FIXTURE_PATH_BYTES];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	bool made = fixture_write(&dir, "a.c", program_text) &&
		    fixture_run(&dir, "aarch64-linux-gnu-gcc -O2 -mbranch-protection=standard "
				      "-static -o program a.c");
	if (made)
		file_agrees(fixture_path(&dir, "program", path), false);
	fixture_dir_fini(&dir);
	if (!made) {
		print_message("no aarch64-linux-gnu-gcc\n");
		skip();
	}
}

static const struct unit_test tests[] = {
	TEST_ROWS(debug_frame_agrees, debug_rows, name),
	TEST(finds_by_table),
	TEST(walks_when_the_table_is_bad),
	TEST(without_section_headers),
	TEST(has_none),
	TEST(has_no_contents),
	TEST(keeps_its_ceiling),
	TEST(survives_no_memory),
	TEST(installed_files_agree),
	TEST(aarch64_agrees),
};

TEST_MAIN(tests)

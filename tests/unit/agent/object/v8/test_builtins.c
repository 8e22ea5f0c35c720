/* SPDX-License-Identifier: Apache-2.0 */
/* V8's builtins with their names in a file without symbols, and what is no table of them. */
#include "agent/object/v8/builtin_source.h"
#include "agent/util/cleanup.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/v8/blob_image.h"

#define N_BUILTINS 300U
#define KNOWN 30U
#define NAMES_AT 0x40000U
#define NAME_STEP 32U
#define TABLE_AT 0x30000U
#define ENTRY_BYTES 24U

struct made {
	struct blob_image image;
	struct v8_builtin all[N_BUILTINS];
	uint8_t *bytes;
};

static uint8_t *entry(struct made *m, size_t i)
{
	return m->bytes + TABLE_AT + i * ENTRY_BYTES;
}

static void put_entry(struct made *m, size_t i, uint64_t name_at, uint64_t kind, uint64_t data)
{
	const uint64_t words[] = { name_at, kind, data };

	memcpy(entry(m, i), words, sizeof(words));
}

/* Every fifth one, and not the first. */
static bool is_cpp(uint32_t i)
{
	return i % 5 == 3;
}

static void put_name(struct made *m, uint32_t i)
{
	char *name = (char *)m->bytes + NAMES_AT + i * NAME_STEP;

	memset(name, 0, NAME_STEP);
	if (i == KNOWN)
		strcpy(name, "InterpreterEntryTrampoline");
	else
		(void)snprintf(name, NAME_STEP, "Builtin_%u", i);
	put_entry(m, i, NAMES_AT + i * NAME_STEP, is_cpp(i) ? 0 : 1 + i % 5, is_cpp(i) ? 0 : 0x101);
}

/* Describes them, in words of `stride` bytes each. */
static void describe(struct made *m, size_t stride, uint32_t alignment)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < N_BUILTINS; i++) {
		uint8_t *at = m->bytes + m->image.data_at + V8_BLOB_BUILTINS + i * stride;
		uint32_t bytes = is_cpp(i) ? 12 : 1200 + i * 37 % 400;

		m->all[i] = (struct v8_builtin){ end, end + bytes, 0 };
		image_put32(at, end);
		image_put32(at + 4, bytes);
		end = (end + bytes + alignment) & ~(alignment - 1);
	}
	m->image.code_bytes = end;
	image_put32(m->bytes + m->image.data_at + m->image.data_bytes, end);
}

static void made_init(struct made *m)
{
	m->image = usual_image;
	m->bytes = image_new(&m->image);
	/* Before the table, and behind it. */
	put_entry(m, (size_t)-1, 1, 99, 1);
	put_entry(m, N_BUILTINS, 1, 99, 1);
	for (uint32_t i = 0; i < N_BUILTINS; i++)
		put_name(m, i);
	describe(m, 12, 64);
	image_seal(m->bytes, &m->image);
}

static void made_fini(struct made *m)
{
	free(m->bytes);
}

FIXTURE(struct made, made_init, made_fini)

static bool find(const struct made *m, struct v8_builtins *ret)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	assert_int_equal(elf_new(bytes_from_memory(m->bytes, IMAGE_BYTES), &elf), 0);
	return v8_builtins_find(elf, ret);
}

static void check_none(const struct made *m)
{
	struct v8_builtins b;

	assert_false(find(m, &b));
}

/* All are as they were made, but for one whose name is not there. */
static void check(const struct made *m, uint32_t unnamed)
{
	struct v8_builtins b;

	assert_true(find(m, &b));
	assert_int_equal(b.n, N_BUILTINS);
	assert_int_equal(b.code_vaddr, IMAGE_CODE_VADDR + m->image.code_at - IMAGE_CODE_AT);
	assert_int_equal(b.code_bytes, m->image.code_bytes);
	for (uint32_t i = 0; i < N_BUILTINS; i++) {
		assert_int_equal(b.all[i].begin, m->all[i].begin);
		assert_int_equal(b.all[i].end, m->all[i].end);
		assert_int_equal(b.all[i].name_at, i == unnamed ? 0 : NAMES_AT + i * NAME_STEP);
	}
	v8_builtins_fini(&b);
}

static void test_found(void **state)
{
	static const struct {
		size_t stride;
		uint32_t alignment;
	} rows[] = { { 12, 64 }, { 16, 32 }, { 28, 64 }, { 32, 64 }, { 8, 32 } };
	struct made *m = *state;

	check(m, N_BUILTINS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		describe(m, rows[i].stride, rows[i].alignment);
		image_seal(m->bytes, &m->image);
		check(m, N_BUILTINS);
	}
}

/* One is not where the one before ends, has no code, or is not there; the checksums are right. */
static void test_description(void **state)
{
	struct made *m = *state;
	uint8_t *at = m->bytes + m->image.data_at + V8_BLOB_BUILTINS;
	static const struct {
		uint32_t word, value;
	} rows[] = { { 3, 64 }, { 4, 0 }, { 4, 0x50000000 }, { 600, 0x10 }, { 898, 5000 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t before;

		memcpy(&before, at + 4 * rows[i].word, sizeof(before));
		image_put32(at + 4 * rows[i].word, rows[i].value);
		image_seal(m->bytes, &m->image);
		check_none(m);
		image_put32(at + 4 * rows[i].word, before);
	}
	image_seal(m->bytes, &m->image);
	check(m, N_BUILTINS);
}

/* What one entry is, and whether the table is still one. */
static void test_entries(void **state)
{
	static const struct {
		uint32_t i;
		uint64_t name, kind, data;
		bool is_table;
	} rows[] = {
		{ 8, NAMES_AT + 8 * NAME_STEP, 0, IMAGE_CODE_VADDR + 64, true },
		{ 8, NAMES_AT + 8 * NAME_STEP, 0, 64, false },
		{ 5, NAMES_AT + 5 * NAME_STEP, 0, 0, false }, /* its code has another length */
		{ 5, NAMES_AT + 5 * NAME_STEP, 16, 0, false },
		{ 5, NAMES_AT + 5 * NAME_STEP - 1, 1, 0, false }, /* an empty name */
		{ 5, 0, 1, 0, false },
		{ 5, IMAGE_BYTES - 4 + IMAGE_CODE_VADDR - IMAGE_CODE_AT, 1, 0, false },
		{ 250, 0x7fffffff0000, 7, 0, false },
		{ N_BUILTINS - 1, 0, 0, 0, false },
		{ 0, 0, 0, 0, false },
	};
	struct made *m = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put_entry(m, rows[i].i, rows[i].name, rows[i].kind, rows[i].data);
		if (rows[i].is_table)
			check(m, N_BUILTINS);
		else
			check_none(m);
		put_name(m, rows[i].i);
	}
	check(m, N_BUILTINS);
	put_entry(m, 8, 0, 0, 0);
	check(m, 8);
}

/* What looks like an entry before the table, and behind it. */
static void test_likenesses(void **state)
{
	struct made *m = *state;

	for (uint32_t i = 1; i < 20; i++) {
		put_entry(m, -(size_t)i, i % 7 ? NAMES_AT : 0, 0, 0);
		put_entry(m, N_BUILTINS + i - 1, i % 7 ? 0 : NAMES_AT, i % 7 ? 0 : 1, 0);
		check(m, N_BUILTINS);
	}
	/* None of them is in C++: it may begin anywhere. */
	for (uint32_t i = 0; i < N_BUILTINS; i++)
		if (is_cpp(i))
			put_entry(m, i, NAMES_AT + i * NAME_STEP, 1, 0);
	put_entry(m, (size_t)-1, NAMES_AT, 1, 0);
	check_none(m);
	put_entry(m, (size_t)-1, 1, 99, 1);
	put_entry(m, N_BUILTINS, 1, 99, 1);
	check(m, N_BUILTINS);
}

/* Others that lead to the known name: so many, and no more. */
static void test_places(void **state)
{
	struct made *m = *state;

	for (uint32_t i = 0; i < 8; i++) {
		const uint64_t name_at = NAMES_AT + KNOWN * NAME_STEP;

		check(m, N_BUILTINS);
		memcpy(m->bytes + 0x2000 + i * 0x100, &name_at, sizeof(name_at));
	}
	check_none(m);
}

static void test_source(void **state)
{
	struct made *m = *state;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_buf_ struct buf name = BUF_INIT(128);
	struct function_source *source;
	struct function_piece piece;
	struct v8_builtins b;

	put_entry(m, 8, 0, 0, 0);
	assert_int_equal(elf_new(bytes_from_memory(m->bytes, IMAGE_BYTES), &elf), 0);
	assert_true(v8_builtins_find(elf, &b));
	uint64_t code = b.code_vaddr, code_end = code + b.code_bytes;
	assert_int_equal(v8_builtin_source_take(elf, &b, &source), 0);
	for (uint32_t i = 0; i < N_BUILTINS; i++) {
		uint64_t begin = code + m->all[i].begin, end = code + m->all[i].end;
		uint64_t next = i + 1 < N_BUILTINS ? code + m->all[i + 1].begin : code_end;
		int r = i == 8 ? FUNCTION_SOURCE_NONE : 0;

		assert_int_equal(source->find(source, begin, &piece), r);
		assert_true(piece.begin == begin && piece.end == end);
		assert_int_equal(source->find(source, end - 1, &piece), r);
		assert_true(piece.begin == begin && piece.end == end);
		assert_int_equal(source->find(source, next - 1, &piece), FUNCTION_SOURCE_NONE);
		assert_true(piece.begin == end && piece.end == next);
	}
	assert_int_equal(source->find(source, code - 1, &piece), FUNCTION_SOURCE_NONE);
	assert_true(piece.begin == 0 && piece.end == code);
	assert_int_equal(source->find(source, code_end, &piece), FUNCTION_SOURCE_NONE);
	assert_true(piece.begin == code_end && piece.end == UINT64_MAX);
	assert_int_equal(source->find(source, code + m->all[KNOWN].begin + 7, &piece), 0);
	assert_int_equal(source->name(source, &piece, &name), 0);
	assert_string_equal(buf_str(&name), "Builtins_InterpreterEntryTrampoline");
	source->free(source);
}

static void test_no_v8(void **state)
{
	struct made *m = *state;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct function_source *source;

	/* It exports no constants. */
	assert_int_equal(elf_new(bytes_from_memory(m->bytes, IMAGE_BYTES), &elf), 0);
	assert_int_equal(v8_builtin_source_new(elf, &source), FUNCTION_SOURCE_NONE);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_found),      FIXTURE_TEST(test_description), FIXTURE_TEST(test_entries),
	FIXTURE_TEST(test_likenesses), FIXTURE_TEST(test_places),      FIXTURE_TEST(test_source),
	FIXTURE_TEST(test_no_v8),
};

TEST_MAIN(tests)

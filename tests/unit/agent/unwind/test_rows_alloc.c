/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of building and placing a table fails once: told, nothing kept, nothing wrong. */
#include "agent/util/clock.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/fake_unwind.h"
#include "tests/support/unit.h"

#define MAX_BYTES ((size_t)64 << 20)
#define N_ROWS 3000

struct fixture {
	struct fake_elf file;
	struct elf *elf;
	struct unwind_info *info;
	struct fake_row rows[N_ROWS];
	struct fake_span span;
};

static struct fixture *fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	for (uint32_t i = 0; i < N_ROWS; i++)
		f->rows[i] = (struct fake_row){
			0x401000 + (uint64_t)i * 40,
			{ .cfa = RULE_CFA_REG,
			  .cfa_reg = RULE_X86_RSP,
			  .cfa_off = 16 + (int32_t)(i % 700) * 8,
			  .ra_off = i % 5 ? -8 : -16 },
		};
	f->span = (struct fake_span){ 0x401000, N_ROWS * 40, f->rows, N_ROWS };
	assert_int_equal(fake_elf_new(&f->file, EM_X86_64, 0x400000, 0x100000, &f->elf), 0);
	assert_int_equal(unwind_info_new_empty(dwarf_abi(EM_X86_64), &f->info), 0);
	assert_true(fake_source_add(f->info, &f->span, 1));
	return f;
}

static void fixture_free(struct fixture *f)
{
	unwind_info_free(f->info);
	elf_free(f->elf);
	free(f);
}

static void building(void **state)
{
	struct fixture *f = fixture_new();
	size_t nth = 1;

	(void)state;
	for (;; nth++) {
		struct row_table *table = NULL;

		alloc_fail_arm(nth);
		int r = row_table_build(f->info, f->elf, MAX_BYTES, &table);
		if (!alloc_fail_disarm()) {
			assert_int_equal(r, 0);
			row_table_free(table);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(table);
	}
	assert_true(nth > 20);
	fixture_free(f);
}

/* Segments, and the bookkeeping of what is free in them and of what waits. */
static void placing(void **state)
{
	struct kernel_arena_options o = { .segments_fd = -1, .max_segments = 4 };
	struct fixture *f = fixture_new();
	struct row_table *table = NULL;
	size_t nth = 1;

	(void)state;
	assert_int_equal(row_table_build(f->info, f->elf, MAX_BYTES, &table), 0);
	for (;; nth++) {
		struct kernel_arena *arena = NULL;
		struct wire_object object;

		alloc_fail_arm(nth);
		int r = kernel_arena_new(&o, &arena);
		if (r == 0)
			r = row_table_place(table, arena, &object);
		if (r == 0)
			row_table_remove(arena, &object);
		bool failed = alloc_fail_disarm();
		/* What could not be queued stays taken; nothing is given out twice. */
		if (arena)
			kernel_arena_reclaim(arena, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
		if (r < 0)
			assert_int_equal(r, -ENOMEM);
		if (r < 0 && arena)
			assert_int_equal(kernel_arena_used_bytes(arena), 0);
		kernel_arena_free(arena);
		if (!failed) {
			assert_int_equal(r, 0);
			break;
		}
	}
	assert_true(nth > 3);
	row_table_free(table);
	fixture_free(f);
}

static void information(void **state)
{
	struct fixture *f = fixture_new();
	size_t nth = 1;

	(void)state;
	for (;; nth++) {
		struct unwind_info *info = NULL;

		alloc_fail_arm(nth);
		int r = unwind_info_new(f->elf, NULL, &info);
		if (!alloc_fail_disarm()) {
			assert_int_equal(r, 0);
			unwind_info_free(info);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(info);
	}
	assert_true(nth > 1);
	fixture_free(f);
}

static const struct unit_test tests[] = {
	TEST(building),
	TEST(placing),
	TEST(information),
};

TEST_MAIN(tests)

/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of bpf/unwind.h over stacks and mapping tables made by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

#define UNWIND_INLINE static inline
#define UNWIND_READ(w, dst, n, addr) world_read((w), (dst), (n), (addr))
#define UNWIND_MAPPING(w, index) world_mapping((w), (index))

struct unwind_walk;
static int world_read(struct unwind_walk *w, void *dst, uint32_t n, uint64_t addr);
static const struct wire_mapping *world_mapping(struct unwind_walk *w, uint32_t index);

#include "bpf/unwind.h"

#define STACK_BASE 0x7ffd00001000ULL
#define LEAF_PC 0x401234ULL

/* What a walk reads from. */
struct world {
	struct unwind_walk walk;
	const struct wire_mapping *table;
	uint32_t n_table;
	unsigned int n_mapping_reads;
	uint64_t base;
	const uint64_t *words;
	size_t n_words;
};

static int world_read(struct unwind_walk *w, void *dst, uint32_t n, uint64_t addr)
{
	const struct world *world = CONTAINER_OF(w, struct world, walk);
	uint64_t at = addr - world->base;
	uint64_t bytes = world->n_words * sizeof(uint64_t);

	if (at > bytes || bytes - at < n)
		return -14;
	memcpy(dst, (const char *)world->words + at, n);
	return 0;
}

static const struct wire_mapping *world_mapping(struct unwind_walk *w, uint32_t index)
{
	struct world *world = CONTAINER_OF(w, struct world, walk);

	world->n_mapping_reads++;
	return index < world->n_table ? &world->table[index] : NULL;
}

struct walked {
	uint64_t frames[WIRE_MAX_USER_FRAMES];
	uint32_t n;
	enum wire_end end;
};

/* As the kernel half does it. */
static void walk_all(struct world *world, const struct wire_regs *regs,
		     const struct wire_process *process, struct walked *ret_walked)
{
	struct walked *out = ret_walked;

	unwind_begin(&world->walk, regs, process, 0);
	out->end = WIRE_END_DEPTH;
	for (out->n = 0; out->n < WIRE_MAX_USER_FRAMES;) {
		out->frames[out->n++] = unwind_frame(&world->walk);
		if (!unwind_step(&world->walk)) {
			out->end = world->walk.end;
			break;
		}
	}
}

static uint64_t ra_of(size_t i)
{
	return 0x500000 + i * 16;
}

/* Records of n − 1 callers, one above the other; the last one says that there is no more. */
static uint64_t *make_chain(size_t n)
{
	uint64_t *words = calloc(n * 2, sizeof(*words));

	assert_non_null(words);
	for (size_t i = 0; i + 1 < n; i++) {
		words[2 * i] = i + 2 < n ? STACK_BASE + (i + 1) * 16 : 0;
		words[2 * i + 1] = ra_of(i);
	}
	return words;
}

struct count_row {
	const char *name;
	uint32_t n;
};

static void test_chain(void **state)
{
	const struct count_row *row = *state;
	size_t n = row->n;
	_cleanup_free_ uint64_t *words = make_chain(n);
	struct world world = { .base = STACK_BASE, .words = words, .n_words = n * 2 };
	struct wire_regs regs = { .pc = LEAF_PC, .sp = STACK_BASE, .fp = n > 1 ? STACK_BASE : 0 };
	struct walked out;

	walk_all(&world, &regs, NULL, &out);
	assert_int_equal(out.end, WIRE_END_ROOT);
	assert_int_equal(out.n, n);
	assert_int_equal(out.frames[0], WIRE_FRAME_RAW | LEAF_PC);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(out.frames[i], WIRE_FRAME_RAW | (ra_of(i - 1) - 1));
	assert_int_equal(world.walk.n_raw, n);
}

/* One frame more than fits: the walk has not ended by itself. */
static void test_chain_too_deep(void **state)
{
	size_t n = WIRE_MAX_USER_FRAMES + 1;
	_cleanup_free_ uint64_t *words = make_chain(n);
	struct world world = { .base = STACK_BASE, .words = words, .n_words = n * 2 };
	struct wire_regs regs = { .pc = LEAF_PC, .sp = STACK_BASE, .fp = STACK_BASE };
	struct walked out;

	(void)state;
	walk_all(&world, &regs, NULL, &out);
	assert_int_equal(out.end, WIRE_END_DEPTH);
	assert_int_equal(out.n, WIRE_MAX_USER_FRAMES);
	assert_int_equal(out.frames[out.n - 1], WIRE_FRAME_RAW | (ra_of(out.n - 2) - 1));
}

/* One step from sp = STACK_BASE; the record, if it is read, lies in the second slot of 16 bytes. */
struct step_row {
	const char *name;
	uint64_t fp;
	uint64_t saved_fp;
	uint64_t ra;
	int goes_on;
	enum wire_end end;
};

#define FP_GOOD (STACK_BASE + 16)
#define FP_LAST (STACK_BASE + 48) /* the last record that lies in the stack as a whole */

static const struct step_row step_rows[] = {
	{ "fp_zero_is_the_root", 0, 0, 0x500000, 0, WIRE_END_ROOT },
	{ "ra_zero_is_the_root", FP_GOOD, 1, 0, 0, WIRE_END_ROOT },
	{ "fp_below_sp", STACK_BASE - 8, 0, 0x500000, 0, WIRE_END_NO_PROGRESS },
	{ "fp_at_sp", STACK_BASE, 0, 0, 0, WIRE_END_ROOT },
	{ "fp_odd", FP_GOOD + 1, 0, 0x500000, 0, WIRE_END_NO_PROGRESS },
	{ "fp_unaligned_by_four", FP_GOOD + 4, 0, 0x500000, 0, WIRE_END_NO_PROGRESS },
	{ "fp_at_the_last_record", FP_LAST, 0, 0, 0, WIRE_END_ROOT },
	{ "fp_half_a_record_before_the_end", FP_LAST + 8, 0, 0, 0, WIRE_END_STACK_READ },
	{ "fp_unreadable", STACK_BASE + (1 << 20), 0, 0x500000, 0, WIRE_END_STACK_READ },
	{ "fp_top_of_the_address_space", ~7ULL, 0, 0x500000, 0, WIRE_END_STACK_READ },
	{ "ra_one", FP_GOOD, 0, 1, 0, WIRE_END_BAD_PC },
	{ "ra_in_the_first_page", FP_GOOD, 0, 4095, 0, WIRE_END_BAD_PC },
	{ "ra_behind_the_first_page", FP_GOOD, 0, 4096, 0, WIRE_END_BAD_PC },
	{ "ra_in_the_second_page", FP_GOOD, 0, 4097, 1, WIRE_END_ROOT },
	{ "ra_below_2_56", FP_GOOD, 0, (1ULL << 56) - 1, 1, WIRE_END_ROOT },
	{ "ra_at_2_56", FP_GOOD, 0, 1ULL << 56, 0, WIRE_END_BAD_PC },
	{ "ra_in_the_kernel", FP_GOOD, 0, 0xffffffff81000000ULL, 0, WIRE_END_BAD_PC },
	{ "ra_all_ones", FP_GOOD, 0, ~0ULL, 0, WIRE_END_BAD_PC },
	{ "ra_good", FP_GOOD, FP_LAST, 0x500000, 1, WIRE_END_ROOT },
};

static void test_step(void **state)
{
	const struct step_row *row = *state;
	uint64_t words[8] = { 0, 0, row->saved_fp, row->ra };
	struct world world = { .base = STACK_BASE, .words = words, .n_words = ARRAY_SIZE(words) };
	struct wire_regs regs = { .pc = LEAF_PC, .sp = STACK_BASE, .fp = row->fp };
	struct unwind_walk *w = &world.walk;

	unwind_begin(w, &regs, NULL, 0);
	assert_int_equal(unwind_step(w), row->goes_on);
	if (!row->goes_on) {
		assert_int_equal(w->end, row->end);
		assert_int_equal(w->pc, LEAF_PC);
		return;
	}
	assert_int_equal(w->pc, row->ra - 1);
	assert_int_equal(w->sp, row->fp + 16);
	assert_int_equal(w->fp, row->saved_fp);
}

/* A record that points to itself, or down, does not make an endless walk. */
static void test_loop_ends(void **state)
{
	uint64_t to_itself[2] = { STACK_BASE, 0x500000 };
	uint64_t downwards[4] = { STACK_BASE, 0x500000, STACK_BASE, 0x500010 };
	struct wire_regs regs = { .pc = LEAF_PC, .sp = STACK_BASE, .fp = STACK_BASE };
	struct world world = { .base = STACK_BASE, .words = to_itself, .n_words = 2 };
	struct walked out;

	(void)state;
	walk_all(&world, &regs, NULL, &out);
	assert_int_equal(out.end, WIRE_END_NO_PROGRESS);
	assert_int_equal(out.n, 2);
	world = (struct world){ .base = STACK_BASE, .words = downwards, .n_words = 4 };
	regs.fp = STACK_BASE + 16;
	walk_all(&world, &regs, NULL, &out);
	assert_int_equal(out.end, WIRE_END_NO_PROGRESS);
	assert_int_equal(out.n, 2);
}

static void test_leaf_pc_is_exact(void **state)
{
	struct world world = { 0 };
	struct wire_regs regs = { .pc = LEAF_PC };

	(void)state;
	unwind_begin(&world.walk, &regs, NULL, 0);
	assert_int_equal(unwind_frame(&world.walk), WIRE_FRAME_RAW | LEAF_PC);
}

static void test_leaf_pc_after_syscall(void **state)
{
	struct world world = { 0 };
	struct wire_regs regs = { .pc = LEAF_PC };

	(void)state;
	unwind_begin(&world.walk, &regs, NULL, 1);
	assert_int_equal(unwind_frame(&world.walk), WIRE_FRAME_RAW | (LEAF_PC - 1));
}

/* Mapping i of a table with gaps; each third one follows the one before it at once. */
static struct wire_mapping *make_table(uint32_t n, uint64_t *seed)
{
	struct wire_mapping *table = calloc(n ? n : 1, sizeof(*table));
	uint64_t at = 0x400000;

	assert_non_null(table);
	for (uint32_t i = 0; i < n; i++) {
		if (i % 3)
			at += 4096 * (1 + hash_u64((*seed)++) % 8);
		table[i].begin = at;
		at += 4096 * (1 + hash_u64((*seed)++) % 8);
		table[i].end = at;
		table[i].frame_base = ((uint64_t)(i + 1) << WIRE_FRAME_OFFSET_BITS) + i * 4096ULL;
	}
	return table;
}

/* What the frame of pc is, found by looking at every mapping. */
static uint64_t naive_frame(const struct wire_mapping *table, uint32_t n, uint64_t pc)
{
	for (uint32_t i = 0; i < n; i++)
		if (pc >= table[i].begin && pc < table[i].end)
			return table[i].frame_base + (pc - table[i].begin);
	return WIRE_FRAME_RAW | pc;
}

/* The frame of pc in a walk that begins there. */
static uint64_t fresh_frame(struct world *world, const struct wire_process *process, uint64_t pc)
{
	struct wire_regs regs = { .pc = pc };

	unwind_begin(&world->walk, &regs, process, 0);
	return unwind_frame(&world->walk);
}

static void check_pc(struct world *world, const struct wire_process *process, uint64_t pc)
{
	const struct wire_mapping *own = world->table + process->first;
	uint64_t expected = naive_frame(own, process->n_mappings, pc);

	assert_int_equal(fresh_frame(world, process, pc), expected);
	assert_int_equal(world->walk.n_raw, !!(expected & WIRE_FRAME_RAW));
}

static void test_search(void **state)
{
	const struct count_row *row = *state;
	uint32_t n = row->n;
	uint64_t seed = n;
	_cleanup_free_ struct wire_mapping *table = make_table(n, &seed);
	struct world world = { .table = table, .n_table = n };
	struct wire_process process = { .n_mappings = n, .generation = 1 };

	check_pc(&world, &process, 0x1000);
	check_pc(&world, &process, UNWIND_PC_MAX - 1);
	for (uint32_t i = 0; i < n; i++) {
		check_pc(&world, &process, table[i].begin - 1);
		check_pc(&world, &process, table[i].begin);
		check_pc(&world, &process, table[i].begin + 7);
		check_pc(&world, &process, table[i].end - 1);
		check_pc(&world, &process, table[i].end);
	}
}

/* The table of a process begins somewhere in the array; its neighbours' mappings are not its own. */
static void test_search_keeps_to_its_own(void **state)
{
	uint64_t seed = 5;
	_cleanup_free_ struct wire_mapping *table = make_table(30, &seed);
	struct world world = { .table = table, .n_table = 30 };
	struct wire_process process = { .first = 10, .n_mappings = 10, .generation = 1 };

	(void)state;
	for (uint32_t i = 0; i < 30; i++) {
		check_pc(&world, &process, table[i].begin);
		check_pc(&world, &process, table[i].end - 1);
	}
	assert_int_equal(fresh_frame(&world, &process, table[9].begin),
			 WIRE_FRAME_RAW | table[9].begin);
	assert_int_equal(fresh_frame(&world, &process, table[20].begin),
			 WIRE_FRAME_RAW | table[20].begin);
}

/* An entry that promises more than the array holds (never published, but the walk must not rely on it). */
static void test_search_without_array(void **state)
{
	struct world world = { .n_table = 0 };
	struct wire_process process = { .n_mappings = 3, .generation = 1 };

	(void)state;
	assert_int_equal(fresh_frame(&world, &process, LEAF_PC), WIRE_FRAME_RAW | LEAF_PC);
	assert_int_equal(world.walk.n_raw, 1);
}

static void test_search_reads_no_more_than_its_steps(void **state)
{
	uint64_t seed = 1;
	_cleanup_free_ struct wire_mapping *table = make_table(WIRE_MAX_PROCESS_MAPPINGS, &seed);
	struct world world = { .table = table, .n_table = WIRE_MAX_PROCESS_MAPPINGS };
	struct wire_process process = { .n_mappings = WIRE_MAX_PROCESS_MAPPINGS, .generation = 1 };

	(void)state;
	(void)fresh_frame(&world, &process, table[2047].begin);
	assert_in_range(world.n_mapping_reads, 2, WIRE_MAPPING_SEARCH_STEPS + 1);
}

static void test_mapping_is_cached(void **state)
{
	const struct wire_mapping table[] = {
		{ .begin = 0x400000,
		  .end = 0x600000,
		  .frame_base = 1ULL << WIRE_FRAME_OFFSET_BITS },
		{ .begin = 0x700000,
		  .end = 0x800000,
		  .frame_base = 2ULL << WIRE_FRAME_OFFSET_BITS },
	};
	struct world world = { .table = table, .n_table = 2 };
	struct wire_process process = { .n_mappings = 2, .generation = 1 };
	struct unwind_walk *w = &world.walk;

	(void)state;
	assert_int_equal(fresh_frame(&world, &process, 0x400000), table[0].frame_base);
	unsigned int reads = world.n_mapping_reads;
	w->pc = 0x5fffff;
	assert_int_equal(unwind_frame(w), table[0].frame_base + 0x1fffff);
	assert_int_equal(world.n_mapping_reads, reads);
	w->pc = 0x700010;
	assert_int_equal(unwind_frame(w), table[1].frame_base + 0x10);
	assert_true(world.n_mapping_reads > reads);
	/* A pc outside leaves the cached one where it was. */
	w->pc = 0x600000;
	assert_int_equal(unwind_frame(w), WIRE_FRAME_RAW | 0x600000);
	reads = world.n_mapping_reads;
	w->pc = 0x7fffff;
	assert_int_equal(unwind_frame(w), table[1].frame_base + 0xfffff);
	assert_int_equal(world.n_mapping_reads, reads);
	assert_int_equal(w->n_raw, 1);
}

/* main (object 1) → library (object 2) → code in no mapping → main's start. */
static void test_two_objects_and_raw(void **state)
{
	const struct wire_mapping table[] = {
		{ .begin = 0x401000,
		  .end = 0x402000,
		  .frame_base = (1ULL << WIRE_FRAME_OFFSET_BITS) + 0x1000 },
		{ .begin = 0x7f0000000000,
		  .end = 0x7f0000010000,
		  .frame_base = (2ULL << WIRE_FRAME_OFFSET_BITS) + 0x8000 },
	};
	const uint64_t words[] = {
		STACK_BASE + 16,
		0x401101, /* called by main */
		STACK_BASE + 32,
		0x900001, /* called by nobody we know */
		0,
		0x401011,
	};
	struct world world = {
		.table = table, .n_table = 2, .base = STACK_BASE, .words = words, .n_words = 6
	};
	struct wire_regs regs = { .pc = 0x7f0000000020, .sp = STACK_BASE, .fp = STACK_BASE };
	struct wire_process process = { .n_mappings = 2, .generation = 7 };
	struct walked out;

	(void)state;
	walk_all(&world, &regs, &process, &out);
	assert_int_equal(out.end, WIRE_END_ROOT);
	assert_int_equal(out.n, 4);
	assert_int_equal(out.frames[0], (2ULL << WIRE_FRAME_OFFSET_BITS) + 0x8020);
	assert_int_equal(out.frames[1], (1ULL << WIRE_FRAME_OFFSET_BITS) + 0x1100);
	assert_int_equal(out.frames[2], WIRE_FRAME_RAW | 0x900000);
	assert_int_equal(out.frames[3], (1ULL << WIRE_FRAME_OFFSET_BITS) + 0x1010);
	assert_int_equal(world.walk.n_raw, 1);
}

#define PROPERTY_TABLES 300
#define PROPERTY_PCS 100

/* Every pc of one walk, cached mappings included, has the frame that looking at every mapping gives. */
static void test_random_tables(void **state)
{
	uint64_t seed = 20260101;

	(void)state;
	for (unsigned int t = 0; t < PROPERTY_TABLES; t++) {
		uint32_t n = (uint32_t)(hash_u64(seed++) % 200);
		_cleanup_free_ struct wire_mapping *table = make_table(n, &seed);
		struct world world = { .table = table, .n_table = n };
		struct wire_process process = { .n_mappings = n, .generation = 1 };
		struct wire_regs regs = { .pc = 0x400000 };
		uint64_t span = n ? table[n - 1].end - 0x400000 + 8192 : 65536;
		uint32_t n_raw = 0;

		unwind_begin(&world.walk, &regs, &process, 0);
		for (unsigned int i = 0; i < PROPERTY_PCS; i++) {
			uint64_t pc = 0x3ff000 + hash_u64(seed++) % span;
			uint64_t expected = naive_frame(table, n, pc);

			world.walk.pc = pc;
			assert_int_equal(unwind_frame(&world.walk), expected);
			n_raw += expected >> 63;
		}
		assert_int_equal(world.walk.n_raw, n_raw);
	}
}

/* Whatever lies on the stack, each step goes up and every caller is a user address. */
static void test_random_stacks(void **state)
{
	enum { N_WORDS = 256 };
	uint64_t seed = 7;
	uint64_t n_steps = 0;

	(void)state;
	for (unsigned int t = 0; t < 2000; t++) {
		uint64_t words[N_WORDS];

		for (unsigned int i = 0; i < N_WORDS; i++) {
			uint64_t r = hash_u64(seed++);

			/* Mostly pointers into the stack or near it, some return addresses, some noise. */
			words[i] = r % 8 < 5   ? STACK_BASE + hash_u64(r) % (N_WORDS * 9) / 8 * 8
				   : r % 8 < 7 ? 0x400000 + hash_u64(r) % 65536
					       : hash_u64(r);
		}
		struct world world = { .base = STACK_BASE, .words = words, .n_words = N_WORDS };
		struct wire_regs regs = { .pc = LEAF_PC,
					  .sp = STACK_BASE,
					  .fp = STACK_BASE + seed % 32 * 8 };
		struct unwind_walk *w = &world.walk;
		uint64_t sp = regs.sp;

		unwind_begin(w, &regs, NULL, 0);
		while (unwind_step(w)) {
			assert_true(w->sp > sp);
			assert_in_range(w->pc, UNWIND_PC_MIN, UNWIND_PC_MAX - 2);
			sp = w->sp;
			n_steps++;
		}
		assert_true(w->end < WIRE_END_MAX && w->end != WIRE_END_DEPTH);
		assert_true(sp <= STACK_BASE + sizeof(words));
	}
	assert_true(n_steps > 2000);
}

static const struct count_row chain_rows[] = {
	{ "chain_1", 1 },
	{ "chain_2", 2 },
	{ "chain_30", 30 },
	{ "chain_1000", WIRE_MAX_USER_FRAMES },
};

static const struct count_row search_rows[] = {
	{ "search_0", 0 }, { "search_1", 1 },	{ "search_2", 2 },
	{ "search_3", 3 }, { "search_63", 63 }, { "search_4096", WIRE_MAX_PROCESS_MAPPINGS },
};

int main(void)
{
	static const struct CMUnitTest fixed[] = {
		cmocka_unit_test(test_chain_too_deep),
		cmocka_unit_test(test_loop_ends),
		cmocka_unit_test(test_leaf_pc_is_exact),
		cmocka_unit_test(test_leaf_pc_after_syscall),
		cmocka_unit_test(test_search_keeps_to_its_own),
		cmocka_unit_test(test_search_without_array),
		cmocka_unit_test(test_search_reads_no_more_than_its_steps),
		cmocka_unit_test(test_mapping_is_cached),
		cmocka_unit_test(test_two_objects_and_raw),
		cmocka_unit_test(test_random_tables),
		cmocka_unit_test(test_random_stacks),
	};
	struct CMUnitTest tests[ARRAY_SIZE(fixed) + ARRAY_SIZE(step_rows) + ARRAY_SIZE(chain_rows) +
				ARRAY_SIZE(search_rows)];
	size_t n = ARRAY_SIZE(fixed);

	memcpy(tests, fixed, sizeof(fixed));
	for (size_t i = 0; i < ARRAY_SIZE(step_rows); i++)
		tests[n++] = (struct CMUnitTest){ step_rows[i].name, test_step, NULL, NULL,
						  (void *)&step_rows[i] };
	for (size_t i = 0; i < ARRAY_SIZE(chain_rows); i++)
		tests[n++] = (struct CMUnitTest){ chain_rows[i].name, test_chain, NULL, NULL,
						  (void *)&chain_rows[i] };
	for (size_t i = 0; i < ARRAY_SIZE(search_rows); i++)
		tests[n++] = (struct CMUnitTest){ search_rows[i].name, test_search, NULL, NULL,
						  (void *)&search_rows[i] };
	return cmocka_run_group_tests_name("bpf/unwind", tests, NULL, NULL);
}

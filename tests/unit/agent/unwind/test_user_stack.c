/* SPDX-License-Identifier: Apache-2.0 */
/* From what the kernel half sent to a user stack: warm, raw, stale, cold from the leaf, cold from further up. */
#include "tests/unit/agent/unwind/make_mappings.h"

#include <string.h>

#include "agent/unwind/user_stack.h"
#include "agent/util/macro.h"

#define FRAME(id, file_off) (((uint64_t)(id) << WIRE_FRAME_OFFSET_BITS) | (file_off))
#define RAW(pc) (WIRE_FRAME_RAW | (pc))
#define REASON(end) (FRAME_END + (uint64_t)WIRE_END_##end)

#define EXE 0x401000ULL	      /* id 1, file offset 0x1000 */
#define LIB 0x7f0000000000ULL /* id 2, file offset 0x8000 */
#define JIT 0x7e0000000000ULL
#define NOWHERE 0x666000ULL
#define STACK 0x7ffd00001000ULL
#define NOW 4 /* generation of the mappings that the process has */

/* What the walk asks of its neighbours, by hand instead. */
struct tables {
	const struct mappings *of_generation[8];
};

const struct mappings *tables_mappings(const struct tables *t, uint32_t pid, uint32_t generation)
{
	assert_int_equal(pid, 100);
	return generation < ARRAY_SIZE(t->of_generation) ? t->of_generation[generation] : NULL;
}

/* Code of the library has no rules, that of the executable has CFA = sp + 16, from 0x5000 on it is the outermost. */
struct object_tables {
	unsigned int n_wanted;
	unsigned int n_rules;
};

void object_tables_rule(struct object_tables *t, struct process *p, struct mapped_file *f,
			uint64_t file_off, bool wanted, struct unwind_rule *ret_rule)
{
	assert_non_null(p->mappings);
	t->n_rules++;
	t->n_wanted += wanted;
	*ret_rule = (struct unwind_rule){ 0 };
	if (f->id != 1)
		return;
	*ret_rule = (struct unwind_rule){ .cfa = RULE_CFA_REG,
					  .cfa_reg = WIRE_ABI_SP,
					  .cfa_off = 16,
					  .ra = file_off < 0x5000 ? RULE_RA_CFA : RULE_RA_UNDEFINED,
					  .ra_off = file_off < 0x5000 ? -8 : 0 };
	if (file_off >= 0x4000 && file_off < 0x5000)
		ret_rule->cfa_reg = 3; /* of the leaf only */
}

/* `push %rbp` at the library's begin, nothing anywhere else. */
int object_tables_code(struct object_tables *t, struct process *p, struct mapped_file *f,
		       uint64_t file_off, void *dst, size_t n)
{
	(void)t;
	(void)p;
	memset(dst, f->id == 2 && file_off == 0x8000 ? 0x55 : 0x90, n);
	return 0;
}

/* Register 3 is saved at CFA − 16 in the executable, and left alone from 0x3000 on. */
void object_tables_register(struct object_tables *t, struct process *p, struct mapped_file *f,
			    uint64_t file_off, uint8_t reg, struct unwind_rule *ret_rule)
{
	object_tables_rule(t, p, f, file_off, false, ret_rule);
	if (ret_rule->cfa == RULE_CFA_NONE || reg != 3)
		return;
	ret_rule->fp = file_off < 0x3000 ? RULE_FP_CFA : RULE_FP_SAME;
	ret_rule->fp_off = file_off < 0x3000 ? -16 : 0;
}

struct fixture {
	struct file_table *files;
	struct telemetry *telemetry;
	struct tables tables;
	struct object_tables objects;
	struct process process;
	struct mappings *before; /* generation 3 */
	struct wire_sample head;
	struct wire_cold cold;
	struct user_stack_input in;
	struct user_stack stack;
};

static int setup(void **state)
{
	static const struct mapping_spec now[] = {
		{ EXE, EXE + 0x10000, 0x1000, 11 },
		{ JIT, JIT + 0x10000, 0, 0 },
		{ LIB, LIB + 0x10000, 0x8000, 22 },
	};
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->files), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	f->process.mappings = make_mappings(f->files, now, ARRAY_SIZE(now));
	f->tables.of_generation[NOW] = f->process.mappings;
	f->head = (struct wire_sample){ .pid = 100, .generation = NOW, .end = WIRE_END_ROOT };
	f->in.head = &f->head;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	mappings_unref(f->process.mappings);
	mappings_unref(f->before);
	file_table_free(f->files);
	telemetry_free(f->telemetry);
	free(f);
	return 0;
}

static void give_frames(struct fixture *f, const uint64_t *frames, size_t n)
{
	f->in.frames = frames;
	f->head.n_user = (uint16_t)n;
}

static void make(struct fixture *f)
{
	const struct user_stack_world world = { &f->tables, &f->objects, f->telemetry };

	user_stack_make(&f->in, &f->process, &world, &f->stack);
}

static void check(struct fixture *f, enum wire_end end, const uint64_t *expected, size_t n)
{
	make(f);
	assert_int_equal(f->stack.end, end);
	assert_int_equal(f->stack.n, n);
	assert_memory_equal(f->stack.frames, expected, n * sizeof(*expected));
}

#define CHECK(f, end, ...)                                   \
	check((f), (end), (const uint64_t[]){ __VA_ARGS__ }, \
	      sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static uint64_t n_stale(const struct fixture *f)
{
	return telemetry_get(f->telemetry, TELEMETRY_samples_stale_mapping);
}

static void test_warm(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(1, 0x1020) };
	struct fixture *f = *state;

	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME(1, 0x1020));
	assert_int_equal(n_stale(f), 0);
	assert_int_equal(f->objects.n_rules, 0);
}

static void test_warm_cut(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010) };
	struct fixture *f = *state;

	give_frames(f, frames, 1);
	f->head.end = WIRE_END_STACK_READ;
	CHECK(f, WIRE_END_STACK_READ, FRAME(2, 0x8010), REASON(STACK_READ));
}

static void test_raw_is_named_by_what_is_known_now(void **state)
{
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(JIT + 5), FRAME(1, 0x1020), RAW(EXE) };
	struct fixture *f = *state;

	give_frames(f, frames, 4);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), RAW(JIT + 5), FRAME(1, 0x1020), FRAME(1, 0x1000));
}

static void test_raw_leaf_in_no_mapping_is_shown(void **state)
{
	const uint64_t frames[] = { RAW(NOWHERE), RAW(EXE + 1) };
	struct fixture *f = *state;

	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME_UNKNOWN, FRAME(1, 0x1001));
}

static void test_raw_caller_in_no_mapping_cuts(void **state)
{
	const uint64_t frames[] = { FRAME(1, 0x1020), RAW(NOWHERE), RAW(EXE + 1) };
	struct fixture *f = *state;

	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_NO_MAPPING, FRAME(1, 0x1020), REASON(NO_MAPPING));
}

/* Followed by frame pointers for want of tables: nobody says that it is complete. */
static void test_unknown_process_without_copy(void **state)
{
	const uint64_t frames[] = { RAW(LIB + 0x10) };
	struct fixture *f = *state;

	f->head.generation = 0;
	f->head.end = WIRE_END_NO_TABLE;
	give_frames(f, frames, 1);
	CHECK(f, WIRE_END_NO_TABLE, FRAME(2, 0x8010), REASON(NO_TABLE));
	assert_int_equal(n_stale(f), 0);
}

static void test_no_mappings_at_all(void **state)
{
	const uint64_t frames[] = { RAW(LIB), RAW(EXE) };
	struct fixture *f = *state;

	mappings_unref(TAKE_PTR(f->process.mappings));
	f->head.generation = 0;
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_NO_MAPPING, FRAME_UNKNOWN, REASON(NO_MAPPING));
}

/* Generation 3: file 3 where half of file 1 is now, file 2 as it is, and something that is gone. */
static void make_stale(struct fixture *f)
{
	static const struct mapping_spec before[] = {
		{ EXE, EXE + 0x8000, 0x30000, 33 },
		{ EXE + 0x8000, EXE + 0x10000, 0x9000, 11 },
		{ NOWHERE, NOWHERE + 0x1000, 0x50000, 33 },
		{ LIB, LIB + 0x8000, 0x8000, 22 },
	};

	f->before = make_mappings(f->files, before, ARRAY_SIZE(before));
	f->tables.of_generation[3] = f->before;
	f->head.generation = 3;
}

/* What the walk came by is what is there now, though other mappings changed. */
static void test_stale_but_untouched(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(1, 0x9010), RAW(JIT + 1) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME(1, 0x9010), RAW(JIT + 1));
	assert_int_equal(n_stale(f), 1);
}

/* The pc of a frame is right, its caller was found by another file's rule. */
static void test_stale_and_replaced(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(3, 0x30010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_REMAPPED, FRAME(2, 0x8010), FRAME(1, 0x1010), REASON(REMAPPED));
}

static void test_stale_leaf_is_replaced(void **state)
{
	const uint64_t frames[] = { FRAME(3, 0x30010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_REMAPPED, FRAME(1, 0x1010), REASON(REMAPPED));
}

static void test_stale_leaf_that_is_gone(void **state)
{
	const uint64_t frames[] = { FRAME(3, 0x50010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_REMAPPED, FRAME_UNKNOWN, REASON(REMAPPED));
}

static void test_stale_caller_that_is_gone(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(3, 0x50010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	make_stale(f);
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_REMAPPED, FRAME(2, 0x8010), REASON(REMAPPED));
}

static void test_forgotten_generation(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020) };
	struct fixture *f = *state;

	f->head.generation = 2;
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_REMAPPED, FRAME_UNKNOWN, REASON(REMAPPED));
	assert_int_equal(n_stale(f), 1);
}

/* Registers and the top of the stack; the kernel half knew nothing. */
static void make_cold(struct fixture *f, const uint64_t *words, size_t n_words)
{
	f->head.generation = 0;
	f->head.flags = WIRE_COLD;
	f->head.stack_words = (uint16_t)n_words;
	f->cold.flags = WIRE_COLD_EXACT;
	f->cold.regs.pc = EXE + 0x10;
	f->cold.regs.reg[WIRE_ABI_SP] = STACK;
	f->in.cold = &f->cold;
	f->in.stack = (const uint8_t *)words;
}

/* By rules in the executable, by frame pointer in the library and in JIT code. */
static void test_cold_from_the_leaf(void **state)
{
	const uint64_t words[] = { 0,	       LIB + 0x21, STACK + 32, JIT + 0x31, STACK + 48,
				   EXE + 0x41, 0,	   0,	       0,	   EXE + 0x5001 };
	const uint64_t frames[] = { RAW(EXE + 0x10), RAW(0x4141) };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->cold.regs.reg[WIRE_ABI_FP] = STACK + 16;
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME(1, 0x1010), FRAME(2, 0x8020), RAW(JIT + 0x30), FRAME(1, 0x1040));
	/* The stack's last record: nothing above it. */
	assert_int_equal(f->objects.n_wanted, f->objects.n_rules);
	assert_true(f->objects.n_wanted >= 3);
}

static void test_cold_to_the_outermost(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	CHECK(f, WIRE_END_ROOT, FRAME(1, 0x1010), FRAME(1, 0x1020), FRAME(1, 0x5000));
}

static void test_cold_on_an_edge_of_a_function(void **state)
{
	const uint64_t words[] = { EXE + 0x4001 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->cold.regs.pc = LIB;
	f->cold.regs.reg[WIRE_ABI_FP] = STACK + 800;
#if WIRE_N_REGS == 16
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8000), FRAME(1, 0x5000));
#else
	CHECK(f, WIRE_END_COPY_END, FRAME(2, 0x8000), REASON(COPY_END));
#endif
}

/* The kernel half has put pc right already. */
static void test_cold_after_syscall(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { RAW(EXE + 0x10) };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->head.flags |= WIRE_IN_SYSCALL;
	give_frames(f, frames, 1);
	CHECK(f, WIRE_END_ROOT, FRAME(1, 0x1010), FRAME(1, 0x5000));
}

static void test_cold_leaf_in_no_mapping(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->cold.regs.pc = NOWHERE;
	CHECK(f, WIRE_END_NO_MAPPING, FRAME_UNKNOWN, REASON(NO_MAPPING));
}

static void test_cold_caller_in_no_mapping(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21, 0, NOWHERE };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	CHECK(f, WIRE_END_NO_MAPPING, FRAME(1, 0x1010), FRAME(1, 0x1020), REASON(NO_MAPPING));
}

static void test_cold_copy_too_short(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21, 0 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	CHECK(f, WIRE_END_COPY_END, FRAME(1, 0x1010), FRAME(1, 0x1020), REASON(COPY_END));
}

/* A function that makes its frame faults on its stack: the copy begins with the caller's page. */
static void test_cold_first_page_is_not_there(void **state)
{
	const uint64_t words[] = { EXE + 0x21, 0, EXE + 0x4001 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->cold.n_skipped = 8;
	CHECK(f, WIRE_END_ROOT, FRAME(1, 0x1010), FRAME(1, 0x1020), FRAME(1, 0x5000));
	/* What lies before the copy is not known, and is not read from anywhere else. */
	f->cold.n_skipped = 16;
	CHECK(f, WIRE_END_COPY_END, FRAME(1, 0x1010), REASON(COPY_END));
}

/* By frame pointer, beyond what was copied. */
static void test_cold_record_beyond_the_copy(void **state)
{
	const uint64_t words[] = { 0, 0 };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->cold.regs.pc = LIB + 0x10;
	f->cold.regs.reg[WIRE_ABI_FP] = STACK + 4096;
	CHECK(f, WIRE_END_COPY_END, FRAME(2, 0x8010), REASON(COPY_END));
	f->cold.regs.reg[WIRE_ABI_FP] = 0;
	f->cold.regs.pc = JIT;
	CHECK(f, WIRE_END_NO_RULE, RAW(JIT), REASON(NO_RULE));
}

/* The kernel half came this far by its tables; the frame it could not leave is looked at again, those before it are right. */
static void make_resumed(struct fixture *f, const uint64_t *words, size_t n_words, uint64_t pc)
{
	make_cold(f, words, n_words);
	f->head.generation = NOW;
	f->head.end = WIRE_END_NO_TABLE;
	f->cold.flags = 0;
	f->cold.n_right = 2;
	f->cold.regs.pc = pc;
}

static void test_cold_resumed(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x1070) };
	struct fixture *f = *state;

	make_resumed(f, words, ARRAY_SIZE(words), EXE + 0x70);
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x1070),
	      FRAME(1, 0x5000));
}

/* Registers of the leaf are known where the walk goes on from it, or behind a signal frame, and nowhere else. */
static void test_cold_resumed_without_registers(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x4010) };
	struct fixture *f = *state;

	make_resumed(f, words, ARRAY_SIZE(words), EXE + 0x3010);
	f->cold.regs.reg[3] = STACK;
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_REGISTER, FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x4010),
	      REASON(REGISTER));
	f->cold.flags = WIRE_COLD_EXACT;
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x4010),
	      FRAME(1, 0x5000));
}

/* A caller's rule needs a register: the walk begins anew at the leaf, and keeps all of them this time. */
static void test_cold_with_all_registers(void **state)
{
	const uint64_t words[] = { STACK + 32, EXE + 0x3011, 0, 0, 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(1, 0x1010), FRAME(1, 0x4010) };
	struct fixture *f = *state;

	make_cold(f, words, ARRAY_SIZE(words));
	f->head.generation = NOW;
	f->head.end = WIRE_END_REGISTER;
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_ROOT, FRAME(1, 0x1010), FRAME(1, 0x4010), FRAME(1, 0x5000));
	/* From further up the leaf's registers are not known. */
	f->cold.flags = 0;
	CHECK(f, WIRE_END_REGISTER, FRAME(1, 0x1010), FRAME(1, 0x4010), REASON(REGISTER));
}

/* Where the kernel half saw no mapping there is one by now, or there still is none. */
static void test_cold_resumed_in_no_mapping(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020), RAW(EXE + 0x70) };
	struct fixture *f = *state;

	make_resumed(f, words, ARRAY_SIZE(words), EXE + 0x70);
	f->head.end = WIRE_END_NO_MAPPING;
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_ROOT, FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x1070),
	      FRAME(1, 0x5000));
	f->cold.regs.pc = NOWHERE;
	CHECK(f, WIRE_END_NO_MAPPING, FRAME(2, 0x8010), FRAME(2, 0x8020), REASON(NO_MAPPING));
}

/* A frame that was taken for right went through memory that is another file's now. */
static void test_cold_resumed_over_replaced_memory(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x4001 };
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(3, 0x30010), FRAME(1, 0x1070) };
	struct fixture *f = *state;

	make_stale(f);
	make_resumed(f, words, ARRAY_SIZE(words), EXE + 0x70);
	f->head.generation = 3;
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_REMAPPED, FRAME(2, 0x8010), FRAME(1, 0x1010), REASON(REMAPPED));
	assert_int_equal(f->objects.n_rules, 0);
}

/* The ring was filling: what the kernel half has is all there is. */
static void test_cold_without_copy(void **state)
{
	const uint64_t frames[] = { FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x1070) };
	struct fixture *f = *state;

	make_resumed(f, NULL, 0, EXE + 0x70);
	give_frames(f, frames, 3);
	CHECK(f, WIRE_END_NO_TABLE, FRAME(2, 0x8010), FRAME(2, 0x8020), FRAME(1, 0x1070),
	      REASON(NO_TABLE));
}

static void test_cold_without_mappings(void **state)
{
	const uint64_t words[] = { 0, EXE + 0x21 };
	const uint64_t frames[] = { RAW(LIB + 0x10), RAW(EXE + 0x20) };
	struct fixture *f = *state;

	mappings_unref(TAKE_PTR(f->process.mappings));
	make_cold(f, words, ARRAY_SIZE(words));
	give_frames(f, frames, 2);
	CHECK(f, WIRE_END_NO_MAPPING, FRAME_UNKNOWN, REASON(NO_MAPPING));
}

static void test_cold_too_deep(void **state)
{
	enum { N = WIRE_MAX_STACK_BYTES / 8 };
	struct fixture *f = *state;
	uint64_t words[N];

	for (size_t i = 0; i < N; i++)
		words[i] = EXE + 0x21;
	make_cold(f, words, N);
	make(f);
	assert_int_equal(f->stack.end, WIRE_END_DEPTH);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	assert_int_equal(f->stack.frames[WIRE_MAX_USER_FRAMES - 1], FRAME(1, 0x1020));
	assert_int_equal(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

/* Right frames and walked ones together are not more than there is room for. */
static void test_cold_resumed_too_deep(void **state)
{
	enum { N = WIRE_MAX_STACK_BYTES / 8 };
	struct fixture *f = *state;
	uint64_t frames[WIRE_MAX_USER_FRAMES];
	uint64_t words[N];

	for (size_t i = 0; i < WIRE_MAX_USER_FRAMES; i++)
		frames[i] = FRAME(2, 0x8000 + i);
	for (size_t i = 0; i < N; i++)
		words[i] = EXE + 0x21;
	make_resumed(f, words, N, EXE + 0x70);
	give_frames(f, frames, WIRE_MAX_USER_FRAMES);
	f->cold.n_right = WIRE_MAX_USER_FRAMES - 1;
	make(f);
	assert_int_equal(f->stack.end, WIRE_END_DEPTH);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	assert_int_equal(f->stack.frames[WIRE_MAX_USER_FRAMES - 1], FRAME(1, 0x1070));
	assert_int_equal(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

static void test_warm_too_deep(void **state)
{
	struct fixture *f = *state;
	uint64_t frames[WIRE_MAX_USER_FRAMES];

	for (size_t i = 0; i < WIRE_MAX_USER_FRAMES; i++)
		frames[i] = FRAME(1, 0x1000 + i);
	/* A head that promises more than a record can hold is not believed. */
	give_frames(f, frames, UINT16_MAX);
	f->head.end = WIRE_END_DEPTH;
	make(f);
	assert_int_equal(f->stack.n, WIRE_MAX_USER_FRAMES + 1);
	assert_memory_equal(f->stack.frames, frames, sizeof(frames));
	assert_int_equal(f->stack.frames[WIRE_MAX_USER_FRAMES], REASON(DEPTH));
}

static void test_compat(void **state)
{
	struct fixture *f = *state;

	f->head.end = WIRE_END_COMPAT;
	CHECK(f, WIRE_END_COMPAT, REASON(COMPAT));
	f->head.generation = 0;
	CHECK(f, WIRE_END_COMPAT, REASON(COMPAT));
}

static void test_no_user_half(void **state)
{
	struct fixture *f = *state;

	f->head.end = WIRE_END_NO_USER;
	f->head.generation = 0;
	make(f);
	assert_int_equal(f->stack.n, 0);
	assert_int_equal(f->stack.end, WIRE_END_NO_USER);
}

static void test_unknown_end(void **state)
{
	struct fixture *f = *state;

	f->head.end = WIRE_END_MAX;
	CHECK(f, WIRE_END_BAD_PC, REASON(BAD_PC));
}

static void test_complete_ends(void **state)
{
	(void)state;
	for (int end = 0; end <= WIRE_END_MAX; end++)
		assert_int_equal(wire_end_is_complete(end),
				 end == WIRE_END_ROOT || end == WIRE_END_NO_USER);
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_warm),
		FIXTURE_TEST(test_warm_cut),
		FIXTURE_TEST(test_raw_is_named_by_what_is_known_now),
		FIXTURE_TEST(test_raw_leaf_in_no_mapping_is_shown),
		FIXTURE_TEST(test_raw_caller_in_no_mapping_cuts),
		FIXTURE_TEST(test_unknown_process_without_copy),
		FIXTURE_TEST(test_no_mappings_at_all),
		FIXTURE_TEST(test_stale_but_untouched),
		FIXTURE_TEST(test_stale_and_replaced),
		FIXTURE_TEST(test_stale_leaf_is_replaced),
		FIXTURE_TEST(test_stale_leaf_that_is_gone),
		FIXTURE_TEST(test_stale_caller_that_is_gone),
		FIXTURE_TEST(test_forgotten_generation),
		FIXTURE_TEST(test_cold_from_the_leaf),
		FIXTURE_TEST(test_cold_to_the_outermost),
		FIXTURE_TEST(test_cold_on_an_edge_of_a_function),
		FIXTURE_TEST(test_cold_after_syscall),
		FIXTURE_TEST(test_cold_leaf_in_no_mapping),
		FIXTURE_TEST(test_cold_caller_in_no_mapping),
		FIXTURE_TEST(test_cold_copy_too_short),
		FIXTURE_TEST(test_cold_first_page_is_not_there),
		FIXTURE_TEST(test_cold_record_beyond_the_copy),
		FIXTURE_TEST(test_cold_resumed),
		FIXTURE_TEST(test_cold_resumed_without_registers),
		FIXTURE_TEST(test_cold_with_all_registers),
		FIXTURE_TEST(test_cold_resumed_in_no_mapping),
		FIXTURE_TEST(test_cold_resumed_over_replaced_memory),
		FIXTURE_TEST(test_cold_without_copy),
		FIXTURE_TEST(test_cold_without_mappings),
		FIXTURE_TEST(test_cold_too_deep),
		FIXTURE_TEST(test_cold_resumed_too_deep),
		FIXTURE_TEST(test_warm_too_deep),
		FIXTURE_TEST(test_compat),
		FIXTURE_TEST(test_no_user_half),
		FIXTURE_TEST(test_unknown_end),
		FIXTURE_TEST(test_complete_ends),
	};

	return cmocka_run_group_tests_name("agent/unwind/user_stack", tests, NULL, NULL);
}

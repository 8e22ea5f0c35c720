/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose mappings, tables and samples are made by hand, for what becomes of its stacks. */
#ifndef XAGENT_TESTS_UNIT_AGENT_UNWIND_STACK_FIXTURE_H
#define XAGENT_TESTS_UNIT_AGENT_UNWIND_STACK_FIXTURE_H

#include "tests/unit/agent/unwind/make_mappings.h"

#include <string.h>

#include "agent/unwind/user_stack.h"
#include "agent/util/macro.h"
#include "tests/support/assert_frame.h"

/* Words from the kernel half. */
#define FRAME(id, file_off) (((uint64_t)(id) << WIRE_FRAME_OFFSET_BITS) | (file_off))
#define RAW(pc) (WIRE_FRAME_RAW | (pc))
/* What becomes of them. */
#define FILE_AT(id, file_off) frame_ref_of_file((id), (file_off))
#define MEMORY_AT(pc) frame_ref_of(FRAME_KIND_MEMORY, (pc))
#define UNKNOWN frame_ref_of(FRAME_KIND_UNKNOWN, 0)
#define REASON(end) frame_ref_of(FRAME_KIND_END, STOP_REASON_##end)

#define EXE 0x401000ULL	      /* id 1, file offset 0x1000 */
#define LIB 0x7f0000000000ULL /* id 2, file offset 0x8000 */
#define JIT 0x7e0000000000ULL
#define NEW 0x500000ULL /* mapped later */
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

/* Code of the library has no rules, that of the executable has CFA = sp + 16, from 0x5000 on it is the outermost; from 0x9000 on it goes to the stack
 * that register 3 tells. From 0x2000 to 0x2100 its frames have 80 bytes. */
struct object_tables {
	unsigned int n_wanted;
	unsigned int n_rules;
};

int object_tables_rule(struct object_tables *t, struct process *p, struct mapped_file *f,
		       uint64_t file_off, bool wanted, struct unwind_rule *ret_rule)
{
	assert_non_null(p->mappings);
	t->n_rules++;
	t->n_wanted += wanted;
	*ret_rule = (struct unwind_rule){ 0 };
	if (f->id != 1)
		return 0;
	*ret_rule = (struct unwind_rule){ .cfa = RULE_CFA_REG,
					  .cfa_reg = WIRE_ABI_SP,
					  .cfa_off = 16,
					  .ra = file_off < 0x5000 ? RULE_RA_CFA : RULE_RA_UNDEFINED,
					  .ra_off = file_off < 0x5000 ? -8 : 0 };
	if (file_off >= 0x2000 && file_off < 0x2100)
		ret_rule->cfa_off = 80;
	if (file_off >= 0x4000 && file_off < 0x5000)
		ret_rule->cfa_reg = 3; /* of the leaf only */
	if (file_off >= 0x9000)
		*ret_rule = (struct unwind_rule){ .cfa = RULE_CFA_REG,
						  .cfa_reg = 3,
						  .cfa_off = 16,
						  .ra = RULE_RA_CFA,
						  .ra_off = -8,
						  .flags = RULE_SWITCH };
	return 0;
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
	(void)object_tables_rule(t, p, f, file_off, false, ret_rule);
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
	struct wire_user_unwound user_unwound;
	struct user_stack_input in;
	struct user_stack stack;
};

static inline int setup(void **state)
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
	f->head = (struct wire_sample){ .pid = 100, .generation = NOW, .end = STOP_REASON_ROOT };
	f->in.head = &f->head;
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	mappings_unref(f->process.mappings);
	mappings_unref(f->process.mappings_ahead);
	mappings_unref(f->before);
	file_table_free(f->files);
	telemetry_free(f->telemetry);
	free(f);
	return 0;
}

static inline void give_frames(struct fixture *f, const uint64_t *frames, size_t n)
{
	f->in.frames = frames;
	f->head.n_user = (uint16_t)n;
}

static inline void make(struct fixture *f)
{
	const struct user_stack_context context = { &f->tables, &f->objects, f->telemetry,
						    UINT64_MAX };

	user_stack_make(&f->in, &f->process, &context, &f->stack);
}

static inline void check(struct fixture *f, enum stop_reason end, const struct frame_ref *expected,
			 size_t n)
{
	make(f);
	assert_int_equal(f->stack.end, end);
	assert_int_equal(f->stack.n, n);
	for (size_t i = 0; i < n; i++)
		assert_frame(f->stack.frames[i], expected[i]);
}

#define CHECK(f, end, ...)                                           \
	check((f), (end), (const struct frame_ref[]){ __VA_ARGS__ }, \
	      sizeof((const struct frame_ref[]){ __VA_ARGS__ }) / sizeof(struct frame_ref))

/* Generation 3: file 3 where half of file 1 is now, file 2 as it is, and something that is gone. */
static inline void make_stale(struct fixture *f)
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

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif

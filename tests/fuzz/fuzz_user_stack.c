/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring buffer record to a user stack, kernel-unwound or over its copy: no more frames than there may be, each of a kind that a sample has, and those of
 * runtimes each once and in order. The process has two files and memory without one; the lower bits of the record's generation say whether its mappings
 * are the ones that it was walked with.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/sample.h"
#include "agent/unwind/user_stack.h"
#include "agent/util/cleanup.h"

#define EXE 0x401000ULL
#define JIT 0x7e0000000000ULL
#define LIB 0x7f0000000000ULL
#define N_MAPPINGS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct mapped_file exe = { .id = 1 }, lib = { .id = 2 };

struct context {
	struct mappings mappings;
	struct mapping items[N_MAPPINGS];
};

static struct context now = {
	{ .n_refs = 1, .n = N_MAPPINGS },
	{ { .begin = EXE, .end = EXE + 0x10000, .file_off = 0x1000, .file = &exe },
	  { .begin = JIT, .end = JIT + 0x10000, .kind = MAPPING_ANON },
	  { .begin = LIB, .end = LIB + 0x10000, .file_off = 0x8000, .file = &lib } },
};

static struct context before = {
	{ .n_refs = 1, .n = 1 },
	{ { .begin = EXE, .end = EXE + 0x10000, .file_off = 0x8000, .file = &lib } },
};

/* What the walk asks of its neighbours. */
const struct mappings *tables_mappings(const struct tables *t, uint32_t pid, uint32_t generation)
{
	(void)t;
	(void)pid;
	return generation % 4 == 1 ? &now.mappings : generation % 4 == 2 ? &before.mappings : NULL;
}

/* Each quarter of a file has another rule: none, CFA by sp, CFA by a register of the leaf's, another stack. */
int object_tables_rule(struct object_tables *t, struct process *p, struct mapped_file *f,
		       uint64_t file_off, bool wanted, struct unwind_rule *ret_rule)
{
	uint64_t quarter = file_off >> 12 & 3;

	(void)t;
	(void)p;
	(void)wanted;
	*ret_rule = (struct unwind_rule){ 0 };
	if (quarter == 0 || f->id != 1)
		return 0;
	*ret_rule = (struct unwind_rule){ .cfa = RULE_CFA_REG,
					  .cfa_reg = quarter == 1 ? WIRE_ABI_SP : 3,
					  .cfa_off = 16,
					  .ra = RULE_RA_CFA,
					  .ra_off = -8,
					  .flags = quarter == 3 ? RULE_SWITCH : 0 };
	return 0;
}

void object_tables_register(struct object_tables *t, struct process *p, struct mapped_file *f,
			    uint64_t file_off, uint8_t reg, struct unwind_rule *ret_rule)
{
	(void)object_tables_rule(t, p, f, file_off, false, ret_rule);
	if (ret_rule->cfa != RULE_CFA_NONE && reg == 3)
		ret_rule->fp = RULE_FP_SAME;
}

int object_tables_code(struct object_tables *t, struct process *p, struct mapped_file *f,
		       uint64_t file_off, void *dst, size_t n)
{
	(void)t;
	(void)p;
	(void)f;
	memset(dst, file_off & 1 ? 0x55 : 0x90, n);
	return 0;
}

static bool is_of_a_sample(enum frame_kind kind)
{
	return kind == FRAME_KIND_FILE || kind == FRAME_KIND_MEMORY || kind == FRAME_KIND_RUNTIME ||
	       kind == FRAME_KIND_END || kind == FRAME_KIND_UNKNOWN;
}

static void check_stack(const struct user_stack *s)
{
	uint32_t n_runtime = 0;

	assert(s->n <= WIRE_MAX_USER_FRAMES + 1 && s->n_runtime <= WIRE_MAX_USER_FRAMES);
	assert(s->end < STOP_REASON_MAX);
	for (uint32_t i = 0; i < s->n; i++) {
		enum frame_kind kind = frame_ref_kind(s->frames[i]);

		assert(is_of_a_sample(kind));
		assert(kind != FRAME_KIND_END || i + 1 == s->n);
		if (kind == FRAME_KIND_RUNTIME)
			assert(frame_ref_value(s->frames[i]) == n_runtime++);
	}
	assert(n_runtime == s->n_runtime);
	assert(stop_reason_is_complete(s->end) ||
	       (s->n > 0 && frame_ref_kind(s->frames[s->n - 1]) == FRAME_KIND_END));
	for (uint32_t i = 0; i < n_runtime; i++)
		assert((s->runtime[i].function & WIRE_FRAME_RUNTIME) == WIRE_FRAME_RUNTIME &&
		       s->runtime[i].function >> WIRE_RUNTIME_KIND_SHIFT & WIRE_RUNTIME_KIND_MASK);
}

static void make_stack(const struct sample *sample, struct mappings *ahead,
		       struct telemetry *telemetry)
{
	static struct user_stack s;
	struct process p = { .mappings = &now.mappings, .mappings_ahead = ahead };
	const struct user_stack_context context = { .telemetry = telemetry,
						    .user_mask = UINT64_MAX };
	const struct user_stack_input in = { .head = sample->head,
					     .frames = sample->user_frames,
					     .user_unwound = sample->user_unwound,
					     .stack = sample->stack };

	user_stack_make(&in, &p, &context, &s);
	check_stack(&s);
	uint32_t n = s.n;
	enum stop_reason end = s.end;
	/* Nothing is of the sample before. */
	memset(&s, 0xff, sizeof(s));
	s.end = end == STOP_REASON_ROOT ? STOP_REASON_DEPTH : STOP_REASON_ROOT;
	user_stack_make(&in, &p, &context, &s);
	assert(s.n == n && s.end == end);
	check_stack(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned as the ring aligns, and of exactly this size. */
	_cleanup_free_ uint8_t *bytes = malloc(size ? size : 1);
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	struct sample sample;

	if (!bytes || telemetry_new(&telemetry) < 0)
		return 0;
	if (size > 0)
		memcpy(bytes, data, size);
	if (sample_parse(bytes, size, &sample) < 0)
		return 0;
	make_stack(&sample, NULL, telemetry);
	make_stack(&sample, &before.mappings, telemetry);
	return 0;
}

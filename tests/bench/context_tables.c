/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a context. The fake ones have functions as compilers make them: pushes, a frame, pops, so that rows lie as close as in
 * distribution code (some 20 a KiB of text, 5 in 256 bytes).
 */
#include <fcntl.h>

#include "agent/util/macro.h"
#include "tests/bench/context.h"
#include "tests/support/fake_unwind.h"

#define TEXT_BEGIN 0x1000ULL
#define TEXT_BYTES ((uint64_t)512 << 10)
#define MAX_FUNCTIONS (TEXT_BYTES / 64)
#define MAX_ROWS (MAX_FUNCTIONS * 16)
#define MAX_PUSHES 6
#define MIN_BODY_BYTES 80
#define MAX_BODY_BYTES 720
#define TABLE_MAX_BYTES ((size_t)256 << 20)

struct text {
	struct fake_span functions[MAX_FUNCTIONS];
	size_t n_functions;
	struct fake_row rows[MAX_ROWS];
	size_t n_rows;
};

uint32_t context_random(struct context *w, uint32_t below)
{
	/* Knuth, The Art of Computer Programming 3.3.4: MMIX */
	w->random = w->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(w->random >> 33) % below;
}

static void add_row(struct text *t, struct fake_span *function, uint64_t vaddr, int32_t cfa_off,
		    bool fp_saved)
{
	if (t->n_rows == MAX_ROWS)
		return;
	t->rows[t->n_rows++] = (struct fake_row){
		vaddr,
		{ .cfa = RULE_CFA_REG,
		  .cfa_reg = RULE_X86_RSP,
		  .cfa_off = cfa_off,
		  .fp = fp_saved ? RULE_FP_CFA : RULE_FP_SAME,
		  .fp_off = fp_saved ? -16 : 0,
		  .ra = RULE_RA_CFA,
		  .ra_off = -8 },
	};
	function->n_rows++;
}

/* push %rbp has one byte, as most pushes of other registers have two; `sub $n,%rsp` and `add $n,%rsp` have four. */
static uint64_t add_function(struct context *w, struct text *t, uint64_t begin)
{
	struct fake_span *f = &t->functions[t->n_functions++];
	uint32_t n_pushes = context_random(w, MAX_PUSHES + 1);
	bool fp_saved = n_pushes > 0 && context_random(w, 2);
	int32_t frame =
		8 * (int32_t)context_random(w, (CONTEXT_MAX_CFA - 8 * (MAX_PUSHES + 1)) / 8);
	int32_t cfa = 8;
	uint64_t at = begin;

	*f = (struct fake_span){ begin, 0, t->rows + t->n_rows, 0 };
	add_row(t, f, at, cfa, false);
	for (uint32_t i = 0; i < n_pushes; i++)
		add_row(t, f, at += i == 0 && fp_saved ? 1 : 2, cfa += 8, fp_saved);
	add_row(t, f, at += 4, cfa + frame, fp_saved);
	at += MIN_BODY_BYTES + context_random(w, MAX_BODY_BYTES - MIN_BODY_BYTES);
	add_row(t, f, at += 4, cfa, fp_saved);
	for (uint32_t i = 0; i < n_pushes; i++)
		add_row(t, f, at += 2, cfa -= 8, fp_saved && i + 1 < n_pushes);
	f->n_bytes = (uint32_t)(at + 1 - begin);
	return (at + 1 + 15) & ~15ULL;
}

static int build(struct text *t, struct row_table **ret_table)
{
	_cleanup_(unwind_info_freep) struct unwind_info *info = NULL;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct fake_elf file;
	int r = fake_elf_new(&file, EM_X86_64, TEXT_BEGIN, TEXT_BYTES, &elf);

	if (r == 0)
		r = unwind_info_new_empty(dwarf_abi(EM_X86_64), &info);
	if (r == 0 && !fake_source_add(info, t->functions, t->n_functions))
		r = -ENOMEM;
	return r != 0 ? r : row_table_build(info, elf, TABLE_MAX_BYTES, ret_table);
}

int context_fake_table(struct context *w, struct row_table **ret_table)
{
	_cleanup_free_ struct text *t = calloc(1, sizeof(*t));
	uint64_t at = TEXT_BEGIN;

	if (!t)
		return -ENOMEM;
	while (at + 2 * MAX_BODY_BYTES < TEXT_BEGIN + TEXT_BYTES && t->n_functions < MAX_FUNCTIONS)
		at = add_function(w, t, at);
	return build(t, ret_table);
}

int context_file_table(const char *path, struct row_table **ret_table)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(unwind_info_freep) struct unwind_info *info = NULL;
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct bytes bytes;
	int r = fd < 0 ? -errno : bytes_from_fd(fd, &bytes);

	if (r == 0)
		r = elf_new(bytes, &elf);
	if (r == 0)
		r = unwind_info_new(elf, NULL, &info);
	return r != 0 ? r : row_table_build(info, elf, TABLE_MAX_BYTES, ret_table);
}

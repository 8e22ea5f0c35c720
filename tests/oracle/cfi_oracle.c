/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our rules with those of libdw (elfutils), at random addresses of ELF files.
 *
 *	cfi_oracle N_ADDRESSES FILE...		N_ADDRESSES of each file
 *
 * Four of ours are asked: the source for the address, the source for all rows, the rules of the
 * object, and the table as the kernel half reads it. Libdw is asked for CFA, frame pointer and return
 * address; both descriptions are evaluated on a machine of random registers and memory. Every
 * difference is of a named class or unexplained; exits 1 when one is unexplained, 77 when no file could
 * be compared.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/object/cfi/cfi.h"
#include "agent/object/rules/unwind_info.h"
#include "agent/unwind/row_table.h"
#include "agent/unwind/rule_text.h"
#include "tests/oracle/cfi_machine.h"
#include "tests/oracle/report.h"

/* Enough to see what is wrong. */
#define MAX_PRINTED 5
#define MAX_BYTES ((size_t)256 << 20)

#define CLASSES(X)                                                                              \
	X(equal, "CFA, frame pointer and return address are the same")                          \
	X(uncovered, "neither has an FDE for the address")                                      \
	X(outermost, "no return address: the outermost frame")                                  \
	X(signal, "signal frame: CFA and frame pointer are the same, the rest is the kernel's") \
	X(popped_fp, "the frame pointer's slot is below the stack pointer: unchanged")          \
	X(popped_ra, "the return address' slot is below the stack pointer: outermost frame")    \
	X(refused, "an expression that no rule can say: no rule")                               \
	X(fp_refused, "the frame pointer by an expression that no rule can say: lost")          \
	X(no_cfa, "neither knows a CFA")                                                        \
	X(unexplained, "DIFFERENT")

enum class {
#define CLASS_ENUM(name, text) CLASS_##name,
	CLASSES(CLASS_ENUM)
#undef CLASS_ENUM
		CLASS_MAX
};

struct counts {
	uint64_t of[CLASS_MAX];
	uint64_t self; /* answers of ours that are not those of the source for one address */
};

/* One file, as all the parties see it. */
struct subject {
	const char *path;
	int fd;
	struct elf *elf;
	const struct dwarf_abi *abi;
	struct unwind_source *source;
	struct unwind_spans spans;
	struct unwind_info *info;
	struct row_table *table;
	struct kernel_arena *arena;
	struct wire_object placed;
	Elf *dw_elf;
	Dwarf_CFI *cfi;
	uint64_t printed;
};

static void subject_fini(struct subject *s)
{
	if (s->cfi)
		(void)dwarf_cfi_end(s->cfi);
	(void)elf_end(s->dw_elf);
	kernel_arena_free(s->arena);
	row_table_free(s->table);
	unwind_info_free(s->info);
	unwind_spans_fini(&s->spans);
	if (s->source)
		s->source->free(s->source);
	elf_free(s->elf);
	if (s->fd >= 0)
		(void)close(s->fd);
}

static const char *open_ours(struct subject *s)
{
	struct unwind_source_stats stats = { 0 };
	struct bytes bytes;

	s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || bytes_from_fd(s->fd, &bytes) != 0 || elf_new(bytes, &s->elf) != 0)
		return "no ELF file that can be read";
	s->abi = dwarf_abi(elf_machine(s->elf));
	int r = cfi_eh_frame_new(s->elf, &s->source);
	if (r != 0)
		return r < 0 ? "cannot be read"
			     : "no .eh_frame (Go writes none), 32-bit, or an object file";
	s->spans.max_bytes = MAX_BYTES;
	if (s->source->spans(s->source, &s->spans, &stats) != 0)
		return "no FDE";
	return NULL;
}

static const char *open_table(struct subject *s)
{
	struct kernel_arena_options options = { .segments_fd = -1, .max_segments = 1024 };

	if (unwind_info_new(s->elf, NULL, &s->info) != 0 ||
	    row_table_build(s->info, s->elf, MAX_BYTES, &s->table) != 0 ||
	    kernel_arena_new(&options, &s->arena) != 0 ||
	    row_table_place(s->table, s->arena, &s->placed) != 0)
		return "no table";
	return NULL;
}

static const char *open_libdw(struct subject *s)
{
	s->dw_elf = elf_begin(s->fd, ELF_C_READ_MMAP, NULL);
	s->cfi = s->dw_elf ? dwarf_getcfi_elf(s->dw_elf) : NULL;
	return s->cfi ? NULL : "libdw finds no .eh_frame";
}

/* As the source for all rows has it. */
struct row_search {
	uint64_t vaddr;
	struct unwind_rule rule;
};

static int keep_last(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct row_search *search = data;

	if (vaddr <= search->vaddr)
		search->rule = *rule;
	return 0;
}

static bool rule_by_rows(struct subject *s, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	struct row_search search = { .vaddr = vaddr };
	struct unwind_source_stats stats = { 0 };
	size_t lo = 0;
	size_t hi = s->spans.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->spans.items[mid].begin <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || vaddr - s->spans.items[lo - 1].begin >= s->spans.items[lo - 1].n_bytes)
		return false;
	if (s->source->rows(s->source, &s->spans.items[lo - 1], keep_last, &search, &stats) != 0)
		return false;
	*ret_rule = search.rule;
	return true;
}

static void print_rule(const struct subject *s, const char *who, const struct unwind_rule *rule)
{
	_cleanup_buf_ struct buf text = BUF_INIT(256);

	(void)rule_text(s->abi, rule, &text);
	(void)printf("    %s: %s\n", who, buf_str(&text));
}

static bool may_print(struct subject *s, uint64_t vaddr)
{
	if (s->printed++ >= MAX_PRINTED)
		return false;
	(void)printf("  %s 0x%" PRIx64 "\n", s->path, vaddr);
	return true;
}

static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* A more trusted source answers: what .eh_frame says is known to be wrong there. */
static bool is_corrected(const struct subject *s, uint64_t vaddr)
{
	struct unwind_source *first = unwind_info_source(s->info, 0);
	struct unwind_rule rule;

	return first && strcmp(first->name, s->source->name) != 0 &&
	       first->rule_at(first, vaddr, &rule) == 0;
}

/* Whether our answers agree among themselves; `raw` is the source's for the address, which `covers` it. */
static bool agrees(struct subject *s, uint64_t vaddr, bool covers, const struct unwind_rule *raw)
{
	struct unwind_rule rows = { 0 };
	struct unwind_rule of_info = { 0 };
	struct unwind_rule of_table = { 0 };
	struct unwind_rule rule = *raw;

	unwind_rule_normalize(s->abi, &rule);
	if (rule_by_rows(s, vaddr, &rows) != covers)
		return false;
	if (!covers)
		return true;
	(void)unwind_info_rule_at(s->info, vaddr, &of_info);
	if (is_corrected(s, vaddr))
		return same_rule(raw, &rows);
	row_table_lookup(s->arena, &s->placed,
			 row_regions_place(row_table_regions(s->table), vaddr), &of_table);
	if (same_rule(raw, &rows) && same_rule(&rule, &of_info) && same_rule(&rule, &of_table))
		return true;
	if (may_print(s, vaddr)) {
		print_rule(s, "source for the address", raw);
		print_rule(s, "source for all rows", &rows);
		print_rule(s, "object", &of_info);
		print_rule(s, "table", &of_table);
	}
	return false;
}

static bool is_below_sp(const struct subject *s, const struct unwind_rule *raw, int32_t off)
{
	return raw->cfa == RULE_CFA_REG && raw->cfa_reg == s->abi->sp &&
	       (int64_t)raw->cfa_off + off < 0;
}

static enum class compare_frames(const struct subject *s, const struct unwind_rule *raw,
				 const struct frame *ours, const struct frame *theirs,
				 bool is_signal) {
	if (raw->ra == RULE_RA_UNDEFINED || theirs->ra.told == TOLD_UNDEFINED) return raw->ra ==
				RULE_RA_UNDEFINED &&
			theirs->ra.told == TOLD_UNDEFINED
		? CLASS_outermost
		: CLASS_unexplained;
	if (ours->cfa.told == TOLD_NOTHING && theirs->cfa.told == TOLD_NOTHING) return CLASS_no_cfa;
	if (ours->cfa.told == TOLD_NOTHING) return theirs->cfa.is_simple && theirs->ra.is_simple
		? CLASS_unexplained
		: CLASS_refused;
	if (!answers_equal(&ours->cfa, &theirs->cfa)) return CLASS_unexplained;
	bool fp_refused = ours->fp.told == TOLD_UNDEFINED && !theirs->fp.is_simple;
	if (!answers_equal(&ours->fp, &theirs->fp) && !fp_refused) return CLASS_unexplained;
	if (ours->ra.told == TOLD_SIGNAL) return is_signal ? CLASS_signal : CLASS_unexplained;
	if (!answers_equal(&ours->ra, &theirs->ra)) return CLASS_unexplained;
	if (fp_refused) return CLASS_fp_refused;
	if (raw->ra == RULE_RA_CFA && is_below_sp(s, raw, raw->ra_off)) return CLASS_popped_ra;
	if (raw->fp == RULE_FP_CFA && is_below_sp(s, raw, raw->fp_off)) return CLASS_popped_fp;
	return CLASS_equal;
}

static enum class compare_with_libdw(struct subject *s, uint64_t vaddr, bool covers,
				     const struct unwind_rule *raw) {
	Dwarf_Frame *dw_frame = NULL; struct machine machine; bool is_signal = false;
	bool found = dwarf_cfi_addrframe(s->cfi, vaddr, &dw_frame) == 0;

	if (!found || !covers) return found == covers ? CLASS_uncovered : CLASS_unexplained;
	machine_init(&machine, vaddr);
	int ra_column = dwarf_frame_info(dw_frame, NULL, NULL, &is_signal);
	struct frame ours = machine_by_rule(&machine, s->abi, raw);
	struct frame theirs = machine_by_libdw(&machine, s->abi, dw_frame, ra_column);
	enum class class = compare_frames(s, raw, &ours, &theirs, is_signal);
	free(dw_frame);
	return class;
}

static void compare_at(struct subject *s, uint64_t vaddr, struct counts *counts)
{
	struct unwind_rule raw = { 0 };
	int r = s->source->rule_at(s->source, vaddr, &raw);
	enum class class = r < 0 ? CLASS_unexplained : compare_with_libdw(s, vaddr, r == 0, &raw);

	counts->of[class]++;
	if (class == CLASS_unexplained && may_print(s, vaddr))
		print_rule(s, r == 0 ? "ours" : "ours: uncovered", &raw);
	if (!agrees(s, vaddr, r == 0, &raw))
		counts->self++;
}

/* Half of them anywhere in the text, half in FDEs, of these every fourth at a border. */
static uint64_t choose(const struct subject *s, uint64_t *random)
{
	uint64_t begin, end;
	uint64_t dice = machine_random(random);

	if (dice % 2 && elf_text_range(s->elf, &begin, &end))
		return begin + machine_random(random) % (end - begin);
	const struct unwind_span *span = &s->spans.items[machine_random(random) % s->spans.n];
	if (dice % 16 == 0)
		return span->begin;
	if (dice % 16 == 2)
		return span->begin + span->n_bytes - 1;
	return span->begin + machine_random(random) % span->n_bytes;
}

static int compare_file(const char *path, uint64_t n, struct counts *counts)
{
	_cleanup_(subject_fini) struct subject s = { .path = path, .fd = -1 };
	uint64_t random = n;
	const char *why = open_ours(&s);

	if (!why)
		why = open_table(&s);
	if (!why)
		why = open_libdw(&s);
	if (why) {
		(void)printf("skip %s: %s\n", path, why);
		return 0;
	}
	for (uint64_t i = 0; i < n; i++)
		compare_at(&s, choose(&s, &random), counts);
	return 1;
}

static int report(const struct counts *counts, int n_files)
{
	struct oracle_class classes[] = {
#define CLASS_ROW(name, text) { #name, text, false, false, counts->of[CLASS_##name] },
		CLASSES(CLASS_ROW)
#undef CLASS_ROW
			{ "self", "our own answers contradict each other", true, true,
			  counts->self },
	};

	classes[CLASS_unexplained].is_wrong = true;
	return oracle_report(classes, sizeof(classes) / sizeof(*classes), n_files);
}

int main(int argc, char **argv)
{
	struct counts counts = { 0 };
	int n_files = 0;
	char *end;

	if (argc < 3) {
		(void)fprintf(stderr, "usage: %s N_ADDRESSES FILE...\n", argv[0]);
		return 2;
	}
	uint64_t n = strtoull(argv[1], &end, 10);
	if (*end || n == 0) {
		(void)fprintf(stderr, "%s: %s is no number of addresses\n", argv[0], argv[1]);
		return 2;
	}
	(void)elf_version(EV_CURRENT);
	for (int i = 2; i < argc; i++)
		n_files += compare_file(argv[i], n, &counts);
	return report(&counts, n_files);
}

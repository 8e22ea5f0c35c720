/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rules for text without any.
 *
 *	text ──(FDEs taken out)──► gaps ──(linkage tables, signal stubs taken out)──► functions
 *
 * Only gaps are looked at, so that an object with call frame information for everything, which is
 * nearly every one, costs a look at its .eh_frame_hdr.
 */
#include "agent/object/nocfi/nocfi_unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/object/nocfi/nocfi_functions.h"
#include "agent/object/nocfi/nocfi_gaps.h"
#include "agent/object/nocfi/nocfi_go.h"
#include "agent/object/nocfi/nocfi_plt.h"
#include "agent/object/nocfi/nocfi_signal.h"
#include "agent/util/macro.h"

/* bl, and how many instructions lie before it: 12 in glibc, 5 in musl. */
#define ARM64_BL 0x94000000u
#define ARM64_BL_MASK 0xfc000000u
#define MAX_ENTRY_INSNS 32
/* Gaps of the C library and the dynamic loader: some hundred bytes. */
#define GAPS_ALWAYS_READ_BYTES 16384
/* Else they are read where they are a quarter of the text: musl and programs linked with it, and what is written in assembly. */
#define GAPS_READ_SHARE 4

struct nocfi_unwind {
	struct unwind_source source;
	uint16_t machine;
	struct nocfi_plt plts[NOCFI_PLT_MAX];
	size_t n_plts;
	struct nocfi_range signals[NOCFI_SIGNAL_MAX];
	size_t n_signals;
	struct nocfi_range entry;	   /* of AArch64; x86-64's is a function as others */
	struct nocfi_ranges called_from;   /* gaps, with Go's functions */
	struct nocfi_ranges gaps;	   /* without all of them */
	struct nocfi_functions *functions; /* owned; NULL: there are none */
};

static struct nocfi_unwind *from_source(struct unwind_source *source)
{
	return CONTAINER_OF(source, struct nocfi_unwind, source);
}

static const struct nocfi_plt *plt_at(const struct nocfi_unwind *s, uint64_t vaddr)
{
	for (size_t i = 0; i < s->n_plts; i++)
		if (vaddr >= s->plts[i].begin && vaddr < s->plts[i].end)
			return &s->plts[i];
	return NULL;
}

static bool is_signal_stub(const struct nocfi_unwind *s, uint64_t vaddr)
{
	for (size_t i = 0; i < s->n_signals; i++)
		if (vaddr >= s->signals[i].begin && vaddr < s->signals[i].end)
			return true;
	return false;
}

static bool is_entry(const struct nocfi_unwind *s, uint64_t vaddr)
{
	return vaddr >= s->entry.begin && vaddr < s->entry.end;
}

/* The outermost frame: there is no caller. */
static struct unwind_rule arm64_root_rule(void)
{
	return (struct unwind_rule){ .cfa = RULE_CFA_REG,
				     .cfa_reg = RULE_ARM64_SP,
				     .ra = RULE_RA_UNDEFINED };
}

static int add_range(struct unwind_spans *spans, uint64_t begin, uint64_t end)
{
	struct unwind_span span = { .begin = begin, .n_bytes = (uint32_t)(end - begin) };

	return unwind_spans_add(spans, &span);
}

static int spans(struct unwind_source *source, struct unwind_spans *ret_spans,
		 struct unwind_source_stats *stats)
{
	struct nocfi_unwind *s = from_source(source);
	int r = 0;

	for (size_t i = 0; i < s->n_plts && r == 0; i++)
		r = add_range(ret_spans, s->plts[i].begin, s->plts[i].end);
	for (size_t i = 0; i < s->n_signals && r == 0; i++)
		r = add_range(ret_spans, s->signals[i].begin, s->signals[i].end);
	if (r == 0 && s->entry.begin < s->entry.end)
		r = add_range(ret_spans, s->entry.begin, s->entry.end);
	if (r == 0 && s->functions)
		r = nocfi_functions_spans(s->functions, ret_spans);
	if (r != 0)
		return r;
	stats->n_bytes += MAX_OF(nocfi_ranges_bytes(&s->gaps), nocfi_ranges_bytes(&s->called_from));
	stats->n_spans += ret_spans->n;
	return ret_spans->n == 0 ? UNWIND_SOURCE_NONE : unwind_spans_finish(ret_spans, stats);
}

static int rows(struct unwind_source *source, const struct unwind_span *span, unwind_row_fn fn,
		void *data, struct unwind_source_stats *stats)
{
	struct nocfi_unwind *s = from_source(source);
	const struct nocfi_plt *plt = plt_at(s, span->begin);
	struct unwind_rule rule;

	(void)stats;
	if (plt)
		return nocfi_plt_rows(plt, fn, data);
	if (is_signal_stub(s, span->begin)) {
		nocfi_signal_rule(s->machine, &rule);
		return MIN_OF(fn(span->begin, &rule, data), 0);
	}
	if (is_entry(s, span->begin)) {
		rule = arm64_root_rule();
		return MIN_OF(fn(span->begin, &rule, data), 0);
	}
	return s->functions ? nocfi_functions_rows(s->functions, span, fn, data) : 0;
}

struct last_row {
	uint64_t vaddr;
	struct unwind_rule *rule;
};

static int keep_last(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct last_row *last = data;

	if (vaddr <= last->vaddr)
		*last->rule = *rule;
	return 0;
}

static int rule_at(struct unwind_source *source, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	struct nocfi_unwind *s = from_source(source);
	const struct nocfi_plt *plt = plt_at(s, vaddr);

	if (plt) {
		struct last_row last = { vaddr, ret_rule };

		return nocfi_plt_rows(plt, keep_last, &last);
	}
	if (is_signal_stub(s, vaddr)) {
		nocfi_signal_rule(s->machine, ret_rule);
		return 0;
	}
	if (is_entry(s, vaddr)) {
		*ret_rule = arm64_root_rule();
		return 0;
	}
	return s->functions ? nocfi_functions_rule_at(s->functions, vaddr, ret_rule)
			    : UNWIND_SOURCE_NONE;
}

static void release(struct unwind_source *source)
{
	struct nocfi_unwind *s = from_source(source);

	if (s->functions)
		nocfi_functions_release(s->functions);
}

static void free_source(struct unwind_source *source)
{
	if (!source)
		return;
	struct nocfi_unwind *s = from_source(source);

	nocfi_functions_free(s->functions);
	nocfi_ranges_fini(&s->called_from);
	nocfi_ranges_fini(&s->gaps);
	free(s);
}

static void free_p(struct nocfi_unwind **s)
{
	if (*s)
		free_source(&(*s)->source);
}

/* Those that have an FDE are left to it. */
static int find_plts(struct nocfi_unwind *s, struct elf *elf)
{
	struct nocfi_plt plts[NOCFI_PLT_MAX];
	size_t n = nocfi_plt_find(elf, plts);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		if (!nocfi_ranges_at(&s->gaps, plts[i].begin))
			continue;
		s->plts[s->n_plts++] = plts[i];
		r = nocfi_ranges_cut(&s->gaps, plts[i].begin, plts[i].end);
	}
	return r;
}

static int find_signal_stubs(struct nocfi_unwind *s, struct elf *elf)
{
	int n = nocfi_signal_find(elf, &s->gaps, s->signals);
	int r = MIN_OF(n, 0);

	for (int i = 0; i < n && r == 0; i++) {
		s->n_signals++;
		r = nocfi_ranges_cut(&s->gaps, s->signals[i].begin, s->signals[i].end);
	}
	return r;
}

/* From the entry to its first call, which does not return: __libc_start_main's or _start_c's. */
static void find_arm64_entry(struct nocfi_unwind *s, const struct elf *elf)
{
	uint32_t code[MAX_ENTRY_INSNS];
	uint64_t file_off;
	Elf64_Ehdr e;

	if (s->machine != EM_AARCH64 || bytes_read(elf_bytes(elf), 0, &e, sizeof(e)) < 0 ||
	    !nocfi_ranges_at(&s->gaps, e.e_entry) || !elf_file_off(elf, e.e_entry, &file_off))
		return;
	ssize_t n = bytes_read_some(elf_bytes(elf), file_off, code, sizeof(code));
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*code); i++) {
		if ((code[i] & ARM64_BL_MASK) == ARM64_BL) {
			s->entry = (struct nocfi_range){ e.e_entry, e.e_entry + (i + 1) * 4 };
			return;
		}
	}
}

static uint64_t executable_bytes(const struct elf *elf)
{
	uint64_t n = 0;

	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *segment = elf_segment(elf, i);

		if (segment->type == PT_LOAD && (segment->flags & PF_X))
			n += segment->file_bytes;
	}
	return n;
}

/*
 * An object of which a small part is not covered was built with call frame information. What is not covered is then tables and code of
 * generators: reading it takes a hundred times as long as all the rest, and finds little that is right. Its entry is looked at all the
 * same.
 */
static int keep_entry_only(struct nocfi_unwind *s, const struct elf *elf)
{
	struct nocfi_ranges kept = { 0 };
	const struct nocfi_range *entry = NULL;
	Elf64_Ehdr e;
	int r = 0;

	if (bytes_read(elf_bytes(elf), 0, &e, sizeof(e)) == 0)
		entry = nocfi_ranges_at(&s->gaps, e.e_entry);
	if (entry && entry->end - entry->begin <= GAPS_ALWAYS_READ_BYTES)
		r = nocfi_ranges_add(&kept, entry->begin, entry->end);
	nocfi_ranges_fini(&s->gaps);
	s->gaps = kept;
	return r;
}

static int choose_gaps(struct nocfi_unwind *s, const struct elf *elf)
{
	uint64_t n_bytes = nocfi_ranges_bytes(&s->gaps);

	if (n_bytes <= GAPS_ALWAYS_READ_BYTES || n_bytes >= executable_bytes(elf) / GAPS_READ_SHARE)
		return 0;
	return keep_entry_only(s, elf);
}

static int find_functions(struct nocfi_unwind *s, struct elf *elf)
{
	int r = 0;

	for (size_t i = 0; i < s->gaps.n && r == 0; i++)
		r = nocfi_ranges_add(&s->called_from, s->gaps.items[i].begin, s->gaps.items[i].end);
	if (r == 0)
		r = nocfi_go_cut(elf, &s->gaps);
	if (r == 0 && s->gaps.n > 0)
		r = nocfi_functions_new(elf, &s->gaps, &s->called_from, &s->functions);
	return r;
}

static int find_all(struct nocfi_unwind *s, struct elf *elf)
{
	int r = nocfi_gaps_find(elf, &s->gaps);

	if (r == 0)
		r = find_plts(s, elf);
	if (r < 0 || nocfi_go_is_all(elf))
		return r;
	r = find_signal_stubs(s, elf);
	find_arm64_entry(s, elf);
	if (r == 0)
		r = choose_gaps(s, elf);
	if (r == 0 && s->gaps.n > 0 && s->machine == EM_X86_64)
		r = find_functions(s, elf);
	return r;
}

int nocfi_unwind_new(struct elf *elf, struct unwind_source **ret_source)
{
	_cleanup_(free_p) struct nocfi_unwind *s = NULL;
	uint16_t machine = elf_machine(elf);

	if (!elf_is_64(elf) || (machine != EM_X86_64 && machine != EM_AARCH64))
		return UNWIND_SOURCE_NONE;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->machine = machine;
	s->source = (struct unwind_source){ "stubs", spans, rows, rule_at, release, free_source };
	/* Without sections there are still segments. */
	int r = elf_load_sections(elf);
	if (r >= 0)
		r = find_all(s, elf);
	if (r < 0)
		return r;
	if (s->n_plts == 0 && s->n_signals == 0 && s->entry.end == 0 && !s->functions)
		return UNWIND_SOURCE_NONE;
	*ret_source = &TAKE_PTR(s)->source;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's function table as a source of unwind rules.
 *
 * Spans are functions with their padding. Most rows follow from the depth of the stack, which the table has for every instruction; what
 * a few functions of the runtime do beyond that is known by their flags and names.
 */
#include "agent/object/go/go_unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/go/go_unwind_internal.h"
#include "agent/util/macro.h"

/* Functions are aligned to 32 bytes at most by default; cache lines can be asked for. */
#define MAX_PADDING_BYTES 64
/* Longer than every name below. */
#define MAX_ROLE_NAME_BYTES 64
/* The signal frame's registers, from sp when the handler has returned (struct ucontext of the kernel). */
#define X86_SIGNAL_RSP 160
#define X86_SIGNAL_RBP 120

/* src/runtime/asm_*.s, sys_linux_*.s, time_linux_*.s, race_*.s, from 1.16 on. */
static const struct {
	const char *name;
	enum go_role role;
} roles[] = {
	{ "runtime.goexit", GO_ROLE_ROOT },
	{ "runtime.mstart", GO_ROLE_ROOT },
	{ "runtime.rt0_go", GO_ROLE_ROOT },
	{ "_rt0_amd64", GO_ROLE_ROOT },
	{ "_rt0_amd64_linux", GO_ROLE_ROOT },
	{ "_rt0_arm64", GO_ROLE_ROOT },
	{ "_rt0_arm64_linux", GO_ROLE_ROOT },
	{ "runtime.mcall", GO_ROLE_LEAVE },
	{ "runtime.morestack", GO_ROLE_LEAVE },
	{ "runtime.gogo", GO_ROLE_LEAVE },
	{ "gogo", GO_ROLE_LEAVE },
	{ "runtime.clone", GO_ROLE_LEAVE },
	{ "runtime.switchToCrashStack0", GO_ROLE_LEAVE },
	{ "runtime.sigreturn", GO_ROLE_SIGRETURN },
	{ "runtime.sigreturn__sigaction", GO_ROLE_SIGRETURN },
	{ "runtime.asyncPreempt", GO_ROLE_INJECTED },
	/* These have a flag, but not in 1.16. */
	{ "runtime.systemstack", GO_ROLE_SWITCH },
	{ "runtime.asmcgocall", GO_ROLE_CALLS_C },
	{ "runtime.asmcgocall_no_g", GO_ROLE_SWITCH },
	{ "runtime.cgocallback", GO_ROLE_SWITCH },
	{ "runtime.nanotime1", GO_ROLE_SWITCH },
	{ "runtime.walltime1", GO_ROLE_SWITCH },
	{ "runtime.walltime", GO_ROLE_SWITCH },
	{ "time.now", GO_ROLE_SWITCH },
	{ "runtime.callCgoMmap", GO_ROLE_SWITCH },
	{ "runtime.callCgoMunmap", GO_ROLE_SWITCH },
	{ "runtime.callCgoSigaction", GO_ROLE_SWITCH },
	{ "runtime.sigfwd", GO_ROLE_SWITCH },
	{ "racecall", GO_ROLE_SWITCH },
};

struct go_unwind {
	struct unwind_source source;
	struct gopclntab *table; /* owned */
	uint16_t machine;
};

static struct go_unwind *go_unwind(struct unwind_source *s)
{
	return CONTAINER_OF(s, struct go_unwind, source);
}

/* The role that a name gives; names longer than all that have one are not read to their end. */
static int role_of_name(struct gopclntab *table, const struct gopclntab_func *func,
			enum go_role *ret_role)
{
	_cleanup_buf_ struct buf name = BUF_INIT(MAX_ROLE_NAME_BYTES);
	int r = gopclntab_name(table, func, &name);

	if (r < 0 && r != -ENOBUFS)
		return r;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(roles); i++) {
		if (strcmp(buf_str(&name), roles[i].name) == 0) {
			*ret_role = roles[i].role;
			return 0;
		}
	}
	*ret_role = GO_ROLE_PLAIN;
	return 0;
}

static int role_of(struct gopclntab *table, const struct gopclntab_func *func,
		   enum go_role *ret_role)
{
	/* All of them are assembly, which is told since 1.17. */
	if (gopclntab_version(table) != GOPCLNTAB_1_16 && !(func->flags & GOPCLNTAB_ASSEMBLY)) {
		*ret_role = GO_ROLE_PLAIN;
		return 0;
	}
	int r = role_of_name(table, func, ret_role);
	if (r != 0)
		return r;
	if (*ret_role == GO_ROLE_PLAIN && (func->flags & GOPCLNTAB_WRITES_SP))
		*ret_role = GO_ROLE_SWITCH;
	return 0;
}

/* Signal handlers return to the first byte of sigreturn, and callers are looked up one byte before. */
static int begins_early(struct gopclntab *table, const struct gopclntab_func *func, bool *ret_early)
{
	enum go_role role = GO_ROLE_PLAIN;
	int r = 0;

	/* It has two instructions. */
	if (func->pcsp && func->end - func->begin <= MAX_PADDING_BYTES)
		r = role_of(table, func, &role);
	*ret_early = role == GO_ROLE_SIGRETURN;
	return r == GOPCLNTAB_NONE ? 0 : r;
}

static int add_span(struct go_unwind *go, struct unwind_spans *spans, uint32_t index,
		    struct unwind_source_stats *stats)
{
	struct gopclntab_func func;
	bool early;
	int r = gopclntab_func(go->table, index, &func);

	/* A record that cannot be read costs that function; C code has no depths. */
	if (r == GOPCLNTAB_NONE)
		stats->n_bad_fdes++;
	if (r != 0 || func.pcsp == 0)
		return r == GOPCLNTAB_NONE ? 0 : r;
	r = begins_early(go->table, &func, &early);
	if (r < 0)
		return r;
	if (early && spans->n > 0 &&
	    spans->items[spans->n - 1].begin + spans->items[spans->n - 1].n_bytes == func.begin &&
	    spans->items[spans->n - 1].n_bytes > 1)
		spans->items[spans->n - 1].n_bytes--;
	func.begin -= early;
	const struct unwind_span span = {
		.begin = func.begin,
		.n_bytes = (uint32_t)MIN_OF(func.end - func.begin, (uint64_t)UINT32_MAX),
		.ref = index,
	};
	r = unwind_spans_add(spans, &span);
	stats->n_spans += r == 0;
	return r;
}

static int go_spans(struct unwind_source *s, struct unwind_spans *spans,
		    struct unwind_source_stats *stats)
{
	struct go_unwind *go = go_unwind(s);

	gopclntab_expect_all(go->table);
	stats->n_bytes += gopclntab_n_bytes(go->table);
	for (uint32_t i = 0; i < gopclntab_n_funcs(go->table); i++) {
		int r = add_span(go, spans, i, stats);

		if (r != 0)
			return r;
	}
	return spans->n == 0 ? UNWIND_SOURCE_NONE : unwind_spans_finish(spans, stats);
}

static int emit_only(struct go_rows *rows, uint64_t pc, const struct unwind_rule *rule)
{
	return rows->fn(pc, rule, rows->data);
}

static int emit_root(struct go_rows *rows, uint16_t machine)
{
	const struct unwind_rule rule = {
		.cfa = RULE_CFA_REG,
		.cfa_reg = machine == EM_X86_64 ? RULE_X86_RSP : RULE_ARM64_SP,
		.cfa_off = machine == EM_X86_64 ? 8 : 0,
		.fp = RULE_FP_UNDEFINED,
		.ra = RULE_RA_UNDEFINED,
	};

	return emit_only(rows, rows->func->begin, &rule);
}

static int emit_sigreturn(struct go_rows *rows)
{
	const struct unwind_rule rule = {
		.cfa = RULE_CFA_DEREF,
		.cfa_reg = RULE_X86_RSP,
		.cfa_off = X86_SIGNAL_RSP,
		.fp = RULE_FP_DEREF,
		.fp_reg = RULE_X86_RSP,
		.fp_off = X86_SIGNAL_RBP,
		.ra = RULE_RA_SIGNAL,
	};

	/* Its span begins at the function where it is too large, or something ends in the byte before. */
	return emit_only(rows, MAX_OF(rows->func->begin - 1, rows->first), &rule);
}

static int emit_by_depth(struct go_rows *rows, uint16_t machine)
{
	struct go_depths depths;
	const struct unwind_rule none = { 0 };
	int r = go_depths_init(rows, &depths);

	if (r < 0)
		return r;
	if (r == GOPCLNTAB_NONE) {
		rows->stats->n_bad_fdes++;
		return emit_only(rows, rows->func->begin, &none);
	}
	r = machine == EM_X86_64 ? go_rows_x86_64(rows, &depths) : go_rows_aarch64(rows, &depths);
	/* The last value holds for the padding; where more is missing the table is damaged. */
	if (r == 0 && rows->func->end - depths.values.pc >= MAX_PADDING_BYTES) {
		rows->stats->n_bad_fdes++;
		r = emit_only(rows, depths.values.pc, &none);
	}
	return r;
}

/* No row is before `first`. */
static int emit_rows(struct go_unwind *go, const struct gopclntab_func *func, uint64_t first,
		     unwind_row_fn fn, void *data, struct unwind_source_stats *stats)
{
	struct go_rows rows = { .table = go->table,
				.func = func,
				.first = first,
				.fn = fn,
				.data = data,
				.stats = stats };
	int r = role_of(go->table, func, &rows.role);

	if (r < 0)
		return r;
	if (rows.role == GO_ROLE_ROOT)
		return emit_root(&rows, go->machine);
	if (rows.role == GO_ROLE_SIGRETURN && go->machine == EM_X86_64)
		return emit_sigreturn(&rows);
	return emit_by_depth(&rows, go->machine);
}

/* Rows of a span, which may begin behind the function where something overlapped it. */
struct clip {
	uint64_t begin;
	unwind_row_fn fn;
	void *data;
	struct unwind_rule rule; /* in force at `begin` */
	bool pending;
};

static int clip_flush(struct clip *clip)
{
	if (!clip->pending)
		return 0;
	clip->pending = false;
	return clip->fn(clip->begin, &clip->rule, clip->data);
}

static int clip_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct clip *clip = data;

	if (vaddr <= clip->begin) {
		clip->rule = *rule;
		clip->pending = true;
		return 0;
	}
	int r = clip_flush(clip);
	return r < 0 ? r : clip->fn(vaddr, rule, clip->data);
}

static int go_rows(struct unwind_source *s, const struct unwind_span *span, unwind_row_fn fn,
		   void *data, struct unwind_source_stats *stats)
{
	struct go_unwind *go = go_unwind(s);
	struct clip clip = { .begin = span->begin, .fn = fn, .data = data };
	struct gopclntab_func func;
	int r = gopclntab_func(go->table, span->ref, &func);

	if (r < 0)
		return r;
	if (r == GOPCLNTAB_NONE)
		return 0;
	if (span->begin <= func.begin) {
		r = emit_rows(go, &func, span->begin, fn, data, stats);
		return MIN_OF(r, 0);
	}
	r = emit_rows(go, &func, 0, clip_row, &clip, stats);
	return r < 0 ? r : clip_flush(&clip);
}

struct wanted {
	uint64_t vaddr;
	struct unwind_rule rule;
	bool found;
};

/* Ends the enumeration behind the address that is wanted; no fault. */
#define WANTED_DONE (-ECANCELED)

static int wanted_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct wanted *wanted = data;

	if (vaddr > wanted->vaddr)
		return WANTED_DONE;
	wanted->rule = *rule;
	wanted->found = true;
	return 0;
}

static int find_index(struct gopclntab *table, uint64_t vaddr, uint32_t *ret_index)
{
	bool early = false;
	uint32_t index;
	struct gopclntab_func func;
	int r = gopclntab_find(table, vaddr, &index);

	if (r != 0)
		return r;
	r = gopclntab_func(table, index, &func);
	if (r != 0)
		return r;
	if (func.end - 1 == vaddr) {
		r = gopclntab_func(table, index + 1, &func);
		if (r < 0)
			return r;
		r = r == 0 ? begins_early(table, &func, &early) : 0;
		if (r != 0)
			return r;
	}
	*ret_index = index + early;
	return 0;
}

static int go_rule_at(struct unwind_source *s, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	struct go_unwind *go = go_unwind(s);
	struct wanted wanted = { .vaddr = vaddr };
	struct unwind_source_stats stats = { 0 };
	struct gopclntab_func func;
	uint32_t index;
	int r = find_index(go->table, vaddr, &index);

	if (r == 0)
		r = gopclntab_func(go->table, index, &func);
	if (r != 0)
		return r == GOPCLNTAB_NONE ? UNWIND_SOURCE_NONE : r;
	if (func.pcsp == 0)
		return UNWIND_SOURCE_NONE;
	r = emit_rows(go, &func, 0, wanted_row, &wanted, &stats);
	if (r < 0 && r != WANTED_DONE)
		return r;
	if (!wanted.found)
		return UNWIND_SOURCE_NONE;
	*ret_rule = wanted.rule;
	return 0;
}

static void go_release(struct unwind_source *s)
{
	(void)s;
}

static void go_free(struct unwind_source *s)
{
	if (!s)
		return;
	struct go_unwind *go = go_unwind(s);
	gopclntab_free(go->table);
	free(go);
}

int go_unwind_new(struct elf *elf, struct unwind_source **ret_source)
{
	_cleanup_(gopclntab_freep) struct gopclntab *table = NULL;
	int r = gopclntab_new(elf, &table);

	if (r != 0)
		return r == GOPCLNTAB_NONE ? UNWIND_SOURCE_NONE : r;
	struct go_unwind *go = calloc(1, sizeof(*go));
	if (!go)
		return -ENOMEM;
	*go = (struct go_unwind){
		.source = {
			.name = "gopclntab",
			.spans = go_spans,
			.rows = go_rows,
			.rule_at = go_rule_at,
			.release = go_release,
			.free = go_free,
		},
		.table = TAKE_PTR(table),
		.machine = elf_machine(elf),
	};
	*ret_source = &go->source;
	return 0;
}

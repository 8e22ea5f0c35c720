/* SPDX-License-Identifier: Apache-2.0 */
/* What Go's tables do not tell of a function, and how its rows are made on each machine. */
#ifndef XAGENT_AGENT_OBJECT_GO_GO_UNWIND_INTERNAL_H
#define XAGENT_AGENT_OBJECT_GO_GO_UNWIND_INTERNAL_H

#include "agent/object/go/gopclntab.h"
#include "agent/object/rules/unwind_source.h"

enum go_role {
	GO_ROLE_PLAIN, /* its stack depth is all there is to know */
	GO_ROLE_SWITCH, /* goes to another stack and comes back: by frame pointer while it is there */
	GO_ROLE_CALLS_C, /* likewise, and notes on that stack where it came from: runtime.asmcgocall */
	GO_ROLE_LEAVE, /* goes to another stack and never comes back: from there on, the outermost */
	GO_ROLE_ROOT,  /* the outermost */
	GO_ROLE_SIGRETURN, /* returned to from a signal handler */
	GO_ROLE_INJECTED,  /* called by a signal handler in the name of what was interrupted */
};

/* The rows of one function, on their way to who wants them. */
struct go_rows {
	struct gopclntab *table;
	const struct gopclntab_func *func;
	uint64_t first; /* no row is before this */
	enum go_role role;
	unwind_row_fn fn;
	void *data;
	struct unwind_source_stats *stats;
};

/* Stack depths of a function, with the one behind at hand. */
struct go_depths {
	struct gopclntab_values values;
	struct gopclntab_range range;
	struct gopclntab_range next;
	bool has_next;
};

/* 0; GOPCLNTAB_NONE: there are none; -errno. */
int go_depths_init(struct go_rows *rows, struct go_depths *ret_depths);
int go_depths_next(struct go_rows *rows, struct go_depths *depths);

/* Where a range of the same depth is cut; 0: nowhere. */
struct go_cuts {
	uint64_t at[12];
	uint64_t
		pop; /* where the frame pointer has been restored already, the stack pointer is about to be; else the range's end */
};

/* What differs from machine to machine; `m` is what it knows of the function by now. 0 or -errno. */
struct go_machine {
	/* Where the function goes to another stack. */
	int (*find_switch)(void *m);
	/* What the prologue does, where the depth has just grown to that of the range. */
	int (*find_frame)(void *m, const struct gopclntab_range *range, int32_t depth_before);
	int (*find_cuts)(void *m, const struct go_depths *depths, struct go_cuts *cuts);
	void (*rule_at)(const void *m, uint64_t pc, int32_t depth, bool popping,
			struct unwind_rule *ret_rule);
};

/* All rows, range by range. 0, -errno (of fn, or of reading). */
int go_rows_by_depth(struct go_rows *rows, struct go_depths *depths,
		     const struct go_machine *machine, void *m);

/* Rows of the machine, but for roots and sigreturn. 0, -errno (of fn, or of reading). */
int go_rows_x86_64(struct go_rows *rows, struct go_depths *depths);
int go_rows_aarch64(struct go_rows *rows, struct go_depths *depths);

/* Up to n bytes of code, cut at the function's begin and end: what is not there reads as 0. */
int go_code(struct go_rows *rows, uint64_t vaddr, unsigned char *dst, size_t n);

/* The deepest frame: of reflect's callers, 1 GiB (runtime.call1073741824). */
#define GO_MAX_DEPTH ((1 << 30) + 4096)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One source of unwind rules of an object: its .eh_frame, its .debug_frame, Go's tables, well-known stubs.
 *
 * A source knows spans of text, and the rows in each of them. It is asked in two ways: for everything (rows for the kernel half), or
 * for a single address, which costs no memory to speak of (the walk in user space). Both give the same answers. A new source is a new file and
 * one line in unwind_info.c.
 *
 * One thread at a time. Bytes come from a file that may be hostile, or change under us: then rules are missing or wrong, nothing else.
 */
#ifndef XAGENT_AGENT_OBJECT_RULES_UNWIND_SOURCE_H
#define XAGENT_AGENT_OBJECT_RULES_UNWIND_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/rule.h"

/* A piece of text with rows of its own: a function, or a part of one. */
struct unwind_span {
	uint64_t begin;	  /* vaddr */
	uint32_t n_bytes; /* > 0; longer ones are cut and counted */
	uint32_t ref;	  /* the source's own */
};

/* Spans of one source, ascending, not overlapping. */
struct unwind_spans {
	struct unwind_span *items; /* owned */
	size_t n;
	size_t cap;
	size_t max_bytes; /* ceiling of `items` */
	/* What the source holds besides, beyond as much again; at most max_bytes. It counts as spans do. */
	size_t held_bytes;
};

/* What was met on the way, for `xagent inspect rows --stats` and the counters; sources add to it. */
struct unwind_source_stats {
	uint64_t n_bytes;    /* of the sections read */
	uint64_t n_spans;    /* FDEs, functions */
	uint64_t n_bad_cies; /* each costs the FDEs that name it */
	uint64_t n_bad_fdes; /* each costs itself, or its rows from the bad instruction on */
	uint64_t
		n_overlaps; /* of two that overlap, the first in address order keeps its place, the second is cut */
	uint64_t n_unrepresentable; /* rows whose rule is none of bpf/rule.h's */
};

/* Rows of a span ascending by vaddr, the first one at its begin; each holds until the next, the last until the span's end. A negative
 * result ends the enumeration and is forwarded. `rule` is borrowed for the call; it is as the source says, not normalized. */
typedef int (*unwind_row_fn)(uint64_t vaddr, const struct unwind_rule *rule, void *data);

enum unwind_source_outcome {
	UNWIND_SOURCE_NONE = 1,	 /* the source has nothing for this object, or for this address */
	UNWIND_SOURCE_TOO_LARGE, /* more memory than the ceiling would be needed */
	UNWIND_SOURCE_OUTCOME_MAX
};

struct unwind_source {
	const char *name; /* "context", "eh_frame", "debug_frame", "gopclntab", "stubs" */
	/* Fills an empty *spans, in memory of at most spans->max_bytes; the source may hold as much again until its free, or
	 * release. 0, UNWIND_SOURCE_NONE, UNWIND_SOURCE_TOO_LARGE, -errno. */
	int (*spans)(struct unwind_source *s, struct unwind_spans *spans,
		     struct unwind_source_stats *stats);
	/* The rows of a span that spans() gave. 0, or -errno (of fn, or of memory). */
	int (*rows)(struct unwind_source *s, const struct unwind_span *span, unwind_row_fn fn,
		    void *data, struct unwind_source_stats *stats);
	/* The rule for one address, without spans() having been called. 0, UNWIND_SOURCE_NONE (outside of all spans), -errno. A rule
	 * of kind RULE_CFA_NONE is an answer: there is a span, it tells nothing. */
	int (*rule_at)(struct unwind_source *s, uint64_t vaddr, struct unwind_rule *ret_rule);
	/* Gives back what spans() made it hold; rule_at() goes on working. */
	void (*release)(struct unwind_source *s);
	void (*free)(struct unwind_source *s); /* NULL-safe */
};

/* Appends; 0, UNWIND_SOURCE_TOO_LARGE, -ENOMEM. */
int unwind_spans_add(struct unwind_spans *spans, const struct unwind_span *span);
/* Sorts by begin if they are not in order (those of one begin keep theirs), and cuts overlaps; the number cut is added to stats. */
int unwind_spans_finish(struct unwind_spans *spans, struct unwind_source_stats *stats);
void unwind_spans_fini(struct unwind_spans *spans);

#endif

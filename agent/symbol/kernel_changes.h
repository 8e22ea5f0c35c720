/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has changed in the kernel's code since its symbols were read: BPF programs and the like that came, and those that went.
 *
 * Laid over the index, so that it need not be read again, which takes 60 ms, for a program of a hundred bytes. Changes may be told that
 * the index has seen already, and, at the border of two intervals, one after the other that happened before: by their times the later one
 * holds.
 *
 * What went keeps its name until the end of the interval after the one in which that was told: it may have been sampled, and samples are
 * read after the side-band, so that some of the time before fall into the next interval. It is known without a name for as long as the
 * index has something there. Used by one thread.
 */
#ifndef XAGENT_AGENT_SYMBOL_KERNEL_CHANGES_H
#define XAGENT_AGENT_SYMBOL_KERNEL_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/kernel_text.h"

/* Of each kind; 4 times as many as a host with a large service mesh has programs. */
#define KERNEL_CHANGES_MAX 8192

struct kernel_code {
	uint64_t begin;
	uint32_t n_bytes;
	enum kernel_text_kind kind;
	uint64_t time_ns; /* when it came, or went */
	uint32_t n_ends;  /* of intervals, since it went */
	char *name;	  /* owned; NULL when it went before the last interval */
};

/* In order of `begin`. */
struct kernel_codes {
	struct kernel_code *items;
	size_t n;
	size_t cap;
};

struct kernel_changes {
	struct kernel_codes here; /* do not overlap */
	struct kernel_codes gone; /* may */
};

void kernel_changes_init(struct kernel_changes *changes);
/* Empties; the index was read again. */
void kernel_changes_fini(struct kernel_changes *changes);
/* 0, -ENOBUFS, -ENOMEM: then the index is to be read again. All that has room is applied, whatever it returns. */
int kernel_changes_apply(struct kernel_changes *changes, const struct kernel_text *text);
/* Who came, and is there, at pc; NULL. */
const struct kernel_code *kernel_changes_find(const struct kernel_changes *changes, uint64_t pc);
/* Who was there at pc and went in this interval or the one before; NULL. */
const struct kernel_code *kernel_changes_find_gone(const struct kernel_changes *changes,
						   uint64_t pc);
/* Whether what the index has at `begin` is that no more. */
bool kernel_changes_hide(const struct kernel_changes *changes, uint64_t begin);
/* At the end of an interval. What went is forgotten where the index has nothing that it would hide. */
typedef bool (*kernel_changes_fn)(uint64_t begin, void *data);
void kernel_changes_end(struct kernel_changes *changes, kernel_changes_fn is_in_index, void *data);
size_t kernel_changes_bytes(const struct kernel_changes *changes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that has come and gone in the kernel while it runs: BPF programs, trampolines, copies of probed instructions.
 *
 * Gathered from the side-band, ring by ring; what was gathered is handed over in order of time, so that the last one tells whose an address
 * is. Where not everything may have been told, `is_incomplete` says so.
 */
#ifndef XAGENT_AGENT_PROCESS_KERNEL_TEXT_H
#define XAGENT_AGENT_PROCESS_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"

/* KSYM_NAME_LEN; with the NUL. */
#define KERNEL_TEXT_NAME_MAX 512
/* Between two calls of kernel_text_take(), an interval: what loads more is a test of BPF itself. */
#define KERNEL_TEXT_MAX_CHANGES 4096
#define KERNEL_TEXT_MAX_NAMES_BYTES ((size_t)256 * 1024)

enum kernel_text_kind {
	KERNEL_TEXT_BPF,	/* programs, their trampolines and dispatchers */
	KERNEL_TEXT_OUT_OF_LINE /* ftrace's trampolines, instructions under a kprobe */
};

struct kernel_text_change {
	uint64_t time_ns;
	uint64_t begin;
	uint32_t n_bytes;
	uint32_t name; /* its place in `names` */
	enum kernel_text_kind kind;
	bool is_gone;
};

struct kernel_text {
	struct kernel_text_change *items;
	size_t n;
	size_t cap;
	struct buf names; /* NUL after each; printable ASCII */
	bool is_incomplete;
};

void kernel_text_init(struct kernel_text *text);
void kernel_text_fini(struct kernel_text *text);
/* What has no room leaves the rest incomplete. change->name is set here; the text of it is copied. */
void kernel_text_add(struct kernel_text *text, const struct kernel_text_change *change,
		     const char *name);
/* Moves all, in order of time, to *ret_text, which is to be ended by kernel_text_fini(). */
void kernel_text_take(struct kernel_text *text, struct kernel_text *ret_text);
static inline const char *kernel_text_name(const struct kernel_text *text,
					   const struct kernel_text_change *change)
{
	return text->names.data + change->name;
}

#endif

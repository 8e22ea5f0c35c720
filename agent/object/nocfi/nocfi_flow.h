/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of one function of x86-64, read off its instructions.
 *
 * From the first instruction, where CFA = rsp + 8, what is known of the frame is carried along
 * every way that control can take, and met where ways join, until nothing changes. A return with
 * anything left on the stack shows that the bytes were misunderstood (they are no function, or
 * data): then nothing is told of all of them.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_FLOW_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_FLOW_H

#include "agent/object/nocfi/nocfi_step.h"
#include "agent/object/rules/unwind_source.h"

/* The largest functions of musl have 16 KiB, interpreters' loops 60. */
#define NOCFI_FLOW_MAX_BYTES 65536u

struct nocfi_text {
	const uint8_t *code;
	uint32_t n;	/* ≤ NOCFI_FLOW_MAX_BYTES */
	uint64_t vaddr; /* of code[0], the function's first instruction */
	/* A symbol says that the function has n bytes; else it ends within them, where nothing
	 * leads on. */
	bool is_sized;
	bool is_behind_function; /* a function ends in front of it, so that one begins here */
	bool is_entry; /* of the program: there is no caller, and its first call does not return */
	/* Whether a function begins there, as far as that is known for certain. */
	bool (*is_function)(uint64_t vaddr, void *data);
	/* Whether the address is taken somewhere: where a function may begin, one does. NULL: not
	 * known of any. */
	bool (*is_taken)(uint64_t vaddr, void *data);
	/* All n bytes of the object at vaddr; jump tables are read so. */
	bool (*read)(uint64_t vaddr, void *dst, size_t n, void *data);
	void *data;
	/* Steps that may still be made; shared by many analyses, so that no file can keep us busy
	 * for long. At 0 nothing is trusted. */
	uint64_t *budget;
};

struct nocfi_flow_scratch; /* what an analysis needs, kept for the next one */

/* 0 or -ENOMEM. Up to 25 bytes a byte of the longest text. */
int nocfi_flow_scratch_new(struct nocfi_flow_scratch **ret_scratch);
void nocfi_flow_scratch_free(struct nocfi_flow_scratch *scratch); /* NULL-safe */

struct nocfi_flow_result {
	uint32_t n_bytes; /* of the function: > 0, ≤ text->n */
	bool is_trusted;  /* false: there are no rules */
};

/* 0 or -ENOMEM. */
int nocfi_flow_analyse(const struct nocfi_text *text, struct nocfi_flow_scratch *scratch,
		       struct nocfi_flow_result *ret_result);
/* The rows of what was analysed last. 0 or what fn returned. */
int nocfi_flow_rows(const struct nocfi_text *text, const struct nocfi_flow_scratch *scratch,
		    const struct nocfi_flow_result *result, unwind_row_fn fn, void *data);

/* The bytes of padding at the begin of n: NOPs of any length, INT3. */
uint32_t nocfi_flow_padding(const uint8_t *code, uint32_t n);

#endif

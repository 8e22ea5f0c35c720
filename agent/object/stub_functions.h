/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions in text without call frame information, and their rows.
 *
 * Begins are known from symbols, from the program's entry and from calls. Between these, behind a
 * function's end, the next one is taken to begin; stub_flow tells whether that was one, and where it
 * ends.
 */
#ifndef XAGENT_AGENT_OBJECT_STUB_FUNCTIONS_H
#define XAGENT_AGENT_OBJECT_STUB_FUNCTIONS_H

#include "agent/object/stub_gaps.h"
#include "agent/object/unwind_source.h"

/* Text that is read: musl has 0.4 MiB, the largest static programs without CFI some. */
#define STUB_FUNCTIONS_MAX_TEXT_BYTES ((uint64_t)16 << 20)
/* Symbols in it. */
#define STUB_FUNCTIONS_MAX_SYMBOLS ((size_t)1 << 18)

struct stub_functions;

/* Functions in `gaps`, which those in `called_from` may call. All are borrowed until free; what is too large gives nothing. 0 or
 * -ENOMEM. */
int stub_functions_new(struct elf *elf, const struct stub_ranges *gaps,
		       const struct stub_ranges *called_from,
		       struct stub_functions **ret_functions);
void stub_functions_free(struct stub_functions *functions); /* NULL-safe */
/* Gives back what the calls below made it hold. */
void stub_functions_release(struct stub_functions *functions);

/* Appends a span for each function; rows are kept in up to a quarter of spans->max_bytes, told in spans->held_bytes. 0,
 * UNWIND_SOURCE_TOO_LARGE, -errno. */
int stub_functions_spans(struct stub_functions *functions, struct unwind_spans *spans);
/* The rows of the function of a span that was appended. 0, -errno, or what fn returned. */
int stub_functions_rows(struct stub_functions *functions, const struct unwind_span *span,
			unwind_row_fn fn, void *data);
/* 0, UNWIND_SOURCE_NONE, -errno. */
int stub_functions_rule_at(struct stub_functions *functions, uint64_t vaddr,
			   struct unwind_rule *ret_rule);

#endif

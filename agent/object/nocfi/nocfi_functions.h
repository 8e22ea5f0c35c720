/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions in text without call frame information, and their rows.
 *
 * Begins are known from symbols, from the program's entry and from calls. Between these, behind a
 * function's end, the next one is taken to begin; nocfi_flow tells whether that was one, and where it
 * ends.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_FUNCTIONS_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_FUNCTIONS_H

#include "agent/object/nocfi/nocfi_gaps.h"
#include "agent/object/rules/unwind_source.h"

/* Text that is read: musl has 0.4 MiB, the largest static programs without CFI some. */
#define NOCFI_FUNCTIONS_MAX_TEXT_BYTES ((uint64_t)16 << 20)
/* Symbols in it. */
#define NOCFI_FUNCTIONS_MAX_SYMBOLS ((size_t)1 << 18)

struct nocfi_functions;

/* Functions in `gaps`, which those in `called_from` may call. All are borrowed until free; what is too large gives nothing. 0 or
 * -ENOMEM. */
int nocfi_functions_new(struct elf *elf, const struct nocfi_ranges *gaps,
			const struct nocfi_ranges *called_from,
			struct nocfi_functions **ret_functions);
void nocfi_functions_free(struct nocfi_functions *functions); /* NULL-safe */
/* Gives back what the calls below made it hold. */
void nocfi_functions_release(struct nocfi_functions *functions);

/* Appends a span for each function; rows are kept in up to a quarter of spans->max_bytes, told in spans->held_bytes. 0,
 * UNWIND_SOURCE_TOO_LARGE, -errno. */
int nocfi_functions_spans(struct nocfi_functions *functions, struct unwind_spans *spans);
/* The rows of the function of a span that was appended. 0, -errno, or what fn returned. */
int nocfi_functions_rows(struct nocfi_functions *functions, const struct unwind_span *span,
			 unwind_row_fn fn, void *data);
/* 0, UNWIND_SOURCE_NONE, -errno. */
int nocfi_functions_rule_at(struct nocfi_functions *functions, uint64_t vaddr,
			    struct unwind_rule *ret_rule);

#endif

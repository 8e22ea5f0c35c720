/* SPDX-License-Identifier: Apache-2.0 */
/* A table of OTLP's dictionary: rows of numbers, equal ones once, in the order in which they came. Row 0 is there from the start and has no numbers: the zero value. Pure. */
#ifndef XAGENT_AGENT_ENCODE_OTLP_ROWS_H
#define XAGENT_AGENT_ENCODE_OTLP_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/id_slots.h"

struct otlp_rows {
	uint64_t *words; /* of all rows, one behind the other */
	size_t n_words, max_words;
	size_t *ends; /* of each row, in words */
	size_t n, max_n;
	struct id_slots slots;
};

struct otlp_row {
	const uint64_t *words;
	size_t n;
};

/* 0 or -ENOMEM (then it can be ended all the same). */
int otlp_rows_init(struct otlp_rows *r);
void otlp_rows_fini(struct otlp_rows *r);

/* The row's place, a new one or that of its equal. 0 or -ENOMEM. */
int otlp_rows_add(struct otlp_rows *r, const uint64_t *words, size_t n, uint32_t *ret_at);
/* Borrowed until the next is added. */
struct otlp_row otlp_rows_get(const struct otlp_rows *r, size_t at);

#endif

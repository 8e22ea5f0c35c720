/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a protobuf message, one after the other, from bytes that nobody has looked at. Pure. Inside of agent/scrape. */
#ifndef XAGENT_AGENT_SCRAPE_WIRE_READ_H
#define XAGENT_AGENT_SCRAPE_WIRE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* https://protobuf.dev/programming-guides/encoding */
enum wire_type { WIRE_VARINT = 0, WIRE_64BIT = 1, WIRE_BYTES = 2, WIRE_32BIT = 5 };

struct wire {
	const uint8_t *p, *end;
	bool broken; /* it ended in the middle of a field, or is no protobuf */
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;	      /* WIRE_VARINT */
	struct wire part;     /* WIRE_BYTES: what the length stands before */
	const uint8_t *whole; /* the field with its tag … */
	size_t n_whole;	      /* … up to its end */
};

static inline struct wire wire_of(const void *bytes, size_t n)
{
	return (struct wire){ .p = bytes, .end = (const uint8_t *)bytes + n };
}

/* False: none is left, or `w->broken`. */
bool wire_next(struct wire *w, struct wire_field *ret_field);

/* One varint of packed ones; false as above. */
bool wire_varint(struct wire *w, uint64_t *ret_value);

/*
 * The numbers of a repeated field come packed or one by one. To be called for each of its fields:
 *
 *	while (wire_numbers(&field, &value))
 */
bool wire_numbers(struct wire_field *field, uint64_t *ret_value);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a message of Protocol Buffers, one by one, where most of it goes on as it came. Pure. */
#ifndef XAGENT_AGENT_RECEIVE_PPROF_WIRE_H
#define XAGENT_AGENT_RECEIVE_PPROF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/str.h"

enum {
	PPROF_WIRE_VARINT = 0,
	PPROF_WIRE_64BIT = 1,
	PPROF_WIRE_LENGTH = 2,
	PPROF_WIRE_32BIT = 5,
};

struct pprof_field {
	unsigned int number, wire;
	uint64_t value;	  /* of a varint */
	size_t offset, n; /* of a part */
};

/* From *at on, which moves behind it. False: it ends, or is none. */
bool pprof_get_varint(struct str s, size_t *at, uint64_t *ret);
bool pprof_next_field(struct str s, size_t *at, struct pprof_field *ret);

#define PPROF_VARINT_BYTES 10
/* How many bytes it took. */
size_t pprof_put_varint(uint64_t value, uint8_t bytes[PPROF_VARINT_BYTES]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of seven bits a byte, the lowest first; a set top bit says that more follow. Pure. */
#ifndef XAGENT_AGENT_STORE_SEGMENT_VARINT_H
#define XAGENT_AGENT_STORE_SEGMENT_VARINT_H

#include <stddef.h>
#include <stdint.h>

/* 64 bits by seven. */
#define VARINT_MAX_BYTES 10

static inline uint8_t *varint_put(uint8_t *p, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*p++ = (uint8_t)(value | 0x80);
	*p++ = (uint8_t)value;
	return p;
}

/* Of bytes that were looked at before: reads to the end of the number, wherever that is. */
static inline const uint8_t *varint_get(const uint8_t *p, uint64_t *ret_value)
{
	uint64_t value = *p & 0x7f;

	for (unsigned int shift = 7; *p++ & 0x80; shift += 7)
		value |= (uint64_t)(*p & 0x7f) << shift;
	*ret_value = value;
	return p;
}

/* Of foreign bytes: NULL when the number does not end before `end`, or has more than 64 bits. */
static inline const uint8_t *varint_check(const uint8_t *p, const uint8_t *end, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; p < end && shift < 64; shift += 7) {
		uint64_t bits = *p & 0x7f;

		/* Of the tenth byte one bit has room. */
		if (shift == 63 && bits > 1)
			return NULL;
		value |= bits << shift;
		if (!(*p++ & 0x80)) {
			*ret_value = value;
			return p;
		}
	}
	return NULL;
}

#endif

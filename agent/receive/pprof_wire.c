/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a message. */
#include "agent/receive/pprof_wire.h"

bool pprof_get_varint(struct str s, size_t *at, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70 && *at < s.n; shift += 7) {
		uint8_t byte = (uint8_t)s.p[(*at)++];

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

bool pprof_next_field(struct str s, size_t *at, struct pprof_field *ret)
{
	uint64_t tag, n = 0;

	if (!pprof_get_varint(s, at, &tag))
		return false;
	*ret = (struct pprof_field){ .number = (unsigned int)(tag >> 3), .wire = tag & 7 };
	if (ret->wire == PPROF_WIRE_VARINT)
		return pprof_get_varint(s, at, &ret->value);
	if (ret->wire == PPROF_WIRE_LENGTH && !pprof_get_varint(s, at, &n))
		return false;
	n = ret->wire == PPROF_WIRE_64BIT ? 8 : ret->wire == PPROF_WIRE_32BIT ? 4 : n;
	if (n > s.n - *at)
		return false;
	ret->offset = *at;
	ret->n = n;
	*at += n;
	return true;
}

size_t pprof_put_varint(uint64_t value, uint8_t bytes[PPROF_VARINT_BYTES])
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	return n;
}

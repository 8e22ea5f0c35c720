/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many bytes a field takes once it is packed (protobuf encoding, proto3 presence).
 *
 * Every field of the format has a number below 16, so a tag is one byte. The tests hold the sums to
 * what protobuf-c really packs.
 */
#ifndef XAGENT_PPROF_WIRE_SIZE_H
#define XAGENT_PPROF_WIRE_SIZE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_TAG_BYTES 1
#define WIRE_BITS_PER_BYTE 7

static inline size_t wire_varint_bytes(uint64_t value)
{
	size_t bits = 64 - (size_t)__builtin_clzll(value | 1);

	return (bits + WIRE_BITS_PER_BYTE - 1) / WIRE_BITS_PER_BYTE;
}

/* A number that is alone in its field: zero is left out. */
static inline size_t wire_number_bytes(uint64_t value)
{
	return value ? WIRE_TAG_BYTES + wire_varint_bytes(value) : 0;
}

/* A string, a message or packed numbers of n bytes. */
static inline size_t wire_block_bytes(size_t n)
{
	return WIRE_TAG_BYTES + wire_varint_bytes(n) + n;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MD5 as RFC 1321 has it: the message in blocks of 64 bytes, behind it one bit, zeros and its length, and four rounds of sixteen
 * steps a block.
 */
#include "agent/target/relabel_md5.h"

#include <string.h>

#define BLOCK_BYTES 64
#define LENGTH_BYTES 8

/* 2^32 times the absolute value of sin(i + 1) (RFC 1321, 3.4). */
static const uint32_t sines[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
	0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
	0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
	0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
	0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
	0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
	0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
	0xeb86d391,
};

/* How far each step of a round turns, the four of them again and again. */
static const uint8_t turns[4][4] = {
	{ 7, 12, 17, 22 },
	{ 5, 9, 14, 20 },
	{ 4, 11, 16, 23 },
	{ 6, 10, 15, 21 },
};

static uint32_t read_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t mix(unsigned int round, const uint32_t s[4])
{
	switch (round) {
	case 0:
		return (s[1] & s[2]) | (~s[1] & s[3]);
	case 1:
		return (s[1] & s[3]) | (s[2] & ~s[3]);
	case 2:
		return s[1] ^ s[2] ^ s[3];
	default:
		return s[2] ^ (s[1] | ~s[3]);
	}
}

/* Which word of the block a step takes. */
static unsigned int word_of(unsigned int step)
{
	static const uint8_t factor[4] = { 1, 5, 3, 7 }, first[4] = { 0, 1, 5, 0 };

	return (factor[step / 16] * step + first[step / 16]) % 16;
}

static void add_block(uint32_t state[4], const uint8_t *block)
{
	uint32_t s[4];

	memcpy(s, state, sizeof(s));
	for (unsigned int i = 0; i < 64; i++) {
		uint32_t sum = s[0] + mix(i / 16, s) + sines[i] + read_le32(block + 4 * word_of(i));
		unsigned int turn = turns[i / 16][i % 4];

		s[0] = s[3];
		s[3] = s[2];
		s[2] = s[1];
		s[1] += sum << turn | sum >> (32 - turn);
	}
	for (unsigned int i = 0; i < 4; i++)
		state[i] += s[i];
}

/* What is left of the message, the bit, the length: one block or two. */
static void add_end(uint32_t state[4], const uint8_t *rest, size_t n_rest, uint64_t n_bytes)
{
	uint8_t end[2 * BLOCK_BYTES] = { 0 };
	size_t n = n_rest + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;

	if (n_rest > 0)
		memcpy(end, rest, n_rest);
	end[n_rest] = 0x80;
	for (size_t i = 0; i < LENGTH_BYTES; i++)
		end[n - LENGTH_BYTES + i] = (uint8_t)(n_bytes * 8 >> 8 * i);
	for (size_t at = 0; at < n; at += BLOCK_BYTES)
		add_block(state, end + at);
}

void relabel_md5(const void *bytes, size_t n, uint8_t ret_digest[RELABEL_MD5_BYTES])
{
	uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	const uint8_t *p = bytes;
	size_t at = 0;

	for (; n - at >= BLOCK_BYTES; at += BLOCK_BYTES)
		add_block(state, p + at);
	add_end(state, p + at, n - at, n);
	for (size_t i = 0; i < RELABEL_MD5_BYTES; i++)
		ret_digest[i] = (uint8_t)(state[i / 4] >> 8 * (i % 4));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4: its own vectors, and that pieces give what the whole gives. */
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/siphash.h"
#include "tests/support/unit.h"

static const struct siphash_key key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };

/* Of the bytes 0, 1, 2 …, from the reference implementation's table. */
static void siphash_vectors(void **state)
{
	static const struct {
		size_t n;
		uint64_t expected;
	} rows[] = {
		{ 0, 0x726fdb47dd0e0e31ULL },
		{ 1, 0x74f839c593dc67fdULL },
		{ 8, 0x93f5f5799a932462ULL },
		{ 15, 0xa129ca6149be45e5ULL },
	};
	unsigned char bytes[16];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(siphash_of(&key, bytes, rows[i].n), rows[i].expected);
}

static void pieces(void **state)
{
	const char text[] = "the quick brown fox jumps over!"; /* 32 bytes with its NUL */
	struct siphash s;

	(void)state;
	siphash_init(&s, &key);
	siphash_words(&s, text, 2);
	siphash_padded(&s, text + 16, 16);
	assert_int_equal(siphash_finish(&s, NULL, 0), siphash_of(&key, text, sizeof(text)));
	siphash_init(&s, &key);
	siphash_padded(&s, text, 13);
	assert_int_equal(siphash_finish(&s, NULL, 0),
			 siphash_of(&key, "the quick bro\0\0\0", 16));
}

static void keys_differ(void **state)
{
	struct siphash_key a = { 0 }, b = { 0 };

	(void)state;
	siphash_key_init(&a);
	siphash_key_init(&b);
	assert_memory_not_equal(&a, &b, sizeof(a));
	assert_int_not_equal(siphash_of(&a, "x", 1), siphash_of(&b, "x", 1));
}

static const struct unit_test tests[] = {
	TEST(siphash_vectors),
	TEST(pieces),
	TEST(keys_differ),
};

TEST_MAIN(tests)

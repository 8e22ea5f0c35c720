/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4. */
#include "agent/util/siphash.h"

#include <string.h>
#include <sys/random.h>

#include "agent/util/clock.h"

void siphash_key_init(struct siphash_key *key)
{
	if (getrandom(key, sizeof(*key), GRND_NONBLOCK) != sizeof(*key))
		*key = (struct siphash_key){ { clock_mono_ns(), (uintptr_t)key } };
}

static uint64_t rotate(uint64_t x, unsigned int n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

void siphash_init(struct siphash *s, const struct siphash_key *key)
{
	*s = (struct siphash){
		{ key->words[0] ^ 0x736f6d6570736575ULL, key->words[1] ^ 0x646f72616e646f6dULL,
		  key->words[0] ^ 0x6c7967656e657261ULL, key->words[1] ^ 0x7465646279746573ULL },
		0
	};
}

void siphash_word(struct siphash *s, uint64_t word)
{
	s->v[3] ^= word;
	sip_round(s->v);
	sip_round(s->v);
	s->v[0] ^= word;
	s->n_bytes += sizeof(word);
}

void siphash_words(struct siphash *s, const void *bytes, size_t n_words)
{
	for (size_t i = 0; i < n_words; i++) {
		uint64_t word;

		memcpy(&word, (const char *)bytes + i * sizeof(word), sizeof(word));
		siphash_word(s, word);
	}
}

static uint64_t last_word(const void *tail, size_t n)
{
	uint64_t last = 0;

	if (n > 0)
		memcpy(&last, tail, n);
	return last;
}

void siphash_padded(struct siphash *s, const void *bytes, size_t n)
{
	siphash_words(s, bytes, n / 8);
	if (n % 8)
		siphash_word(s, last_word((const char *)bytes + n / 8 * 8, n % 8));
}

uint64_t siphash_finish(struct siphash *s, const void *tail, size_t n)
{
	siphash_word(s, last_word(tail, n) | (s->n_bytes + n) << 56);
	s->v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(s->v);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

uint64_t siphash_of(const struct siphash_key *key, const void *bytes, size_t n)
{
	struct siphash s;

	siphash_init(&s, key);
	siphash_words(&s, bytes, n / 8);
	return siphash_finish(&s, (const char *)bytes + n / 8 * 8, n % 8);
}

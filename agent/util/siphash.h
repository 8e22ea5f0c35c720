/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4 (Aumasson, Bernstein 2012): a keyed hash of 64 bits. Who does not know the key cannot make bytes whose hash is that of
 * others, so equal hashes are as good as equal bytes, whoever made them.
 */
#ifndef XAGENT_AGENT_UTIL_SIPHASH_H
#define XAGENT_AGENT_UTIL_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t words[2]; /* random, secret */
};

struct siphash {
	uint64_t v[4];
	uint64_t n_bytes; /* hashed so far: a multiple of 8 */
};

/* Never waits for randomness. Early in the boot, when there is none, it is made of the clock and an address: who makes files sees no
 * hashes to try it on. */
void siphash_key_init(struct siphash_key *key);

void siphash_init(struct siphash *s, const struct siphash_key *key);
void siphash_word(struct siphash *s, uint64_t word);
/* n_words times 8 bytes, of any alignment. */
void siphash_words(struct siphash *s, const void *bytes, size_t n_words);
/* The same for n bytes; the last word is filled up by zeros, so their number must be in the hash as well, or be no secret. */
void siphash_padded(struct siphash *s, const void *bytes, size_t n);
/* The last n bytes, fewer than 8, and the length. */
uint64_t siphash_finish(struct siphash *s, const void *tail, size_t n);

/* Of bytes at hand. Pure. */
uint64_t siphash_of(const struct siphash_key *key, const void *bytes, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Literals that are secrets, to be found again in other texts.
 *
 * Each is known as it was written, as what it means, and as JSON, labels of metrics and log lines spell it; of a literal that is a
 * configuration itself (import.string) also the literals in it. Keys of objects are none: names of headers are no secrets.
 */
#ifndef XAGENT_AGENT_CLI_SUPPORT_SECRET_TEXTS_H
#define XAGENT_AGENT_CLI_SUPPORT_SECRET_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/* A shorter text is not looked for: it would be found in everything. */
#define SECRET_TEXT_MIN_BYTES 6

struct secret_texts {
	char **items; /* owned, as is the array */
	size_t n;
	uint64_t starts[256 / 64]; /* a set: the first bytes of all items */
};

void secret_texts_fini(struct secret_texts *t);

/* Adds every text between quotes from `from` to `to`. 0, -ENOMEM, or -E2BIG: there are too many to look for. */
int secret_texts_add_literals(struct secret_texts *t, const char *from, const char *to);

/* The same of a text that is not the language: labels of blocks are left out. */
int secret_texts_add_broken(struct secret_texts *t, const char *from, const char *to);

/* Length of the longest one that begins at `at`, 0: none. */
size_t secret_texts_match(const struct secret_texts *t, const char *at, const char *end);

#endif

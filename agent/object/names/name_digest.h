/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two files give the same names: a digest of all that names are read from, and of where it lies.
 *
 * A build id does not tell: anyone can write one into a file. The digest is keyed (SipHash-2-4; Aumasson, Bernstein 2012), so who does not
 * know the key cannot make a file whose digest is that of another. Files of one digest can be read in each other's place.
 */
#ifndef XAGENT_AGENT_OBJECT_NAMES_NAME_DIGEST_H
#define XAGENT_AGENT_OBJECT_NAMES_NAME_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "agent/util/siphash.h"

/* What is read of one file for it; 64 ms. Symbols and strings of larger ones (browsers) come once on a host. */
#define NAME_DIGEST_MAX_BYTES ((uint64_t)64 << 20)

enum name_digest_outcome {
	NAME_DIGEST_NONE = 1, /* without sections, too large, or with names elsewhere */
	NAME_DIGEST_OUTCOME_MAX
};

/* `previous`: the digest of another file that belongs to it, or 0. With lines, what these are read from belongs to it too. Loads the
 * sections. 0, NAME_DIGEST_NONE, -errno. */
int name_digest(struct elf *elf, const struct siphash_key *key, uint64_t previous,
		bool with_lines, uint64_t *ret_digest);

#endif

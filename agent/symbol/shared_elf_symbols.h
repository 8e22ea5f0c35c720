/* SPDX-License-Identifier: Apache-2.0 */
/* All ELF symbols, those of files with equal content once: who uses them, and what they hold together. */
#ifndef XAGENT_AGENT_SYMBOL_SHARED_ELF_SYMBOLS_H
#define XAGENT_AGENT_SYMBOL_SHARED_ELF_SYMBOLS_H

#include "agent/symbol/elf_symbols.h"

struct shared_elf_symbols {
	struct hash_table by_digest;
	struct list all;
	size_t n;
	size_t bytes;
	size_t source_bytes; /* of them, what can be dropped at any time */
};

void shared_elf_symbols_init(struct shared_elf_symbols *t);
/* All users are gone. */
void shared_elf_symbols_fini(struct shared_elf_symbols *t);

/* Those of that digest, or NULL. The caller becomes a user. */
struct elf_symbols *shared_elf_symbols_find(struct shared_elf_symbols *t, uint64_t digest);
/* Takes `elf_symbols`, with the caller as its only user; digest 0: it is nobody else's. 0 or -ENOMEM (not taken). */
int shared_elf_symbols_add(struct shared_elf_symbols *t, struct elf_symbols *elf_symbols,
			   uint64_t digest);
/* The last user frees it. */
void shared_elf_symbols_release(struct shared_elf_symbols *t, struct elf_symbols *elf_symbols);

/* Around whatever changes what one holds. */
void shared_elf_symbols_begin_change(struct shared_elf_symbols *t,
				     const struct elf_symbols *elf_symbols);
void shared_elf_symbols_end_change(struct shared_elf_symbols *t,
				   const struct elf_symbols *elf_symbols);

/* Drops sources, those that are needed least first, down to max_bytes. `keep` (may be NULL) is left alone. How many files lost
 * theirs. */
size_t shared_elf_symbols_evict_sources(struct shared_elf_symbols *t, size_t max_bytes,
					const struct elf_symbols *keep, uint64_t interval);
void shared_elf_symbols_end_interval(struct shared_elf_symbols *t, uint64_t interval);
void shared_elf_symbols_drop_names(struct shared_elf_symbols *t);

#endif

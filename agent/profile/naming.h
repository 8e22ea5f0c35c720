/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the frames of one interval: each unique address is asked for once. Worker thread.
 *
 * Valid between symbol_store_begin() and _end().
 */
#ifndef XAGENT_AGENT_PROFILE_NAMING_H
#define XAGENT_AGENT_PROFILE_NAMING_H

#include <stdint.h>

#include "agent/profile/interval.h"
#include "agent/symbol/store.h"
#include "bpf/wire.h"

/* An address with its names; inlined functions are several, innermost first. */
struct named {
	struct hash_node node;
	struct frame_ref frame;
	/* Belongs to the encoder that is at work: its id of this address, and which encoder that was (namer_next_epoch). */
	uint64_t location_id;
	uint64_t location_epoch;
	uint32_t n;
	struct frame items[];
};

#define NAMED_STACK_MAX STACK_MAX_FRAMES

struct named_stack {
	struct named *items[NAMED_STACK_MAX]; /* leaf first; before it the waker's, outermost first */
	uint32_t n;
	uint32_t leaf; /* which one that is */
};

struct namer;

/* Both are borrowed. What is known of addresses stays below max_bytes, and the store's names within its memory: when either is used up, all
 * of it is forgotten, and addresses that come again are named again. */
int namer_new(const struct interval *interval, struct symbol_store *store, size_t max_bytes,
	      struct namer **ret_namer);
void namer_free(struct namer *n);
DEFINE_CLEANUP(struct namer *, namer_free);

/* Names the kernel's addresses, then everything that lies in files, one file after the other: each index is then made once at most,
 * however little room there is for all of them, and the kernel's is read before anything else of the interval takes memory. Without it
 * names are made as stacks ask for them. What finds no memory is left to that. */
void namer_name_all(struct namer *n);

/* A number for an encoder that keeps its ids in struct named; never 0, never the same twice. */
uint64_t namer_next_epoch(struct namer *n);

/* A run of kernel frames whose names are hidden is one frame. Of a wait for a lock the innermost one tells its kind, where that is known. What was got before becomes invalid, names too. 0 or -ENOMEM. */
int namer_stack(struct namer *n, const struct stack *stack, struct named_stack *ret_named);
/* The same of its innermost address alone. */
int namer_leaf(struct namer *n, const struct stack *stack, struct named_stack *ret_named);

#endif

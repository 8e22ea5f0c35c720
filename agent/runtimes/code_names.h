/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions of runtimes, as the kernel half has sent them when a tick met the function: by process, image and function. So a name is
 * there even if the process has ended, or its garbage collector has moved everything, before the name is asked for.
 *
 * Equal names are one object. The memory of the names is bounded: those of ended processes are dropped first, then, of who has told more than his
 * share, and at last of all, those that were asked for longest ago. When these are of a live process, and one process as a whole or one that is
 * asked for again, the kernel half has to send all names again (told_seed), every ten seconds at most. Names to which others hold references are
 * not in this bound.
 *
 * Loop thread; a name that is held may be read by any.
 */
#ifndef XAGENT_AGENT_RUNTIMES_CODE_NAMES_H
#define XAGENT_AGENT_RUNTIMES_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "agent/runtimes/runtime.h"
#include "agent/util/cleanup.h"
#include "agent/util/hash.h"

/* Immutable. Texts are valid UTF-8 without control characters, and end with NUL. */
struct code_name {
	const char *function;  /* never "" */
	const char *file;      /* "": not known */
	const char *source_id; /* what its source is known by elsewhere; "": nothing */
	uint32_t line;	       /* where the function begins; 0: not known */
	uint32_t n_lines;      /* bytes of its runtime's table of lines; 0: there is none */
	const uint8_t *lines;
	uint8_t lines_format;
	/* private */
	unsigned int n_refs;
	unsigned int n_functions; /* of them */
	struct hash_node node;
	struct code_names *table; /* NULL when that is gone */
	char texts[];
};

struct code_name *code_name_ref(struct code_name *name);
void code_name_unref(struct code_name *name); /* NULL-safe */

/* What it takes of memory. */
size_t code_name_bytes(const struct code_name *name);

struct code_names;

/* `told_seed`: mapped, read by the kernel half (NULL: none). */
int code_names_new(size_t max_bytes, uint64_t *told_seed, struct code_names **ret_names);
/* Names that are held live on. NULL-safe. */
void code_names_free(struct code_names *n);
DEFINE_CLEANUP(struct code_names *, code_names_free);

/* Which function of which process: as in a sample and its frames. */
struct code_key {
	uint32_t pid;
	uint32_t exec_id;
	uint64_t function; /* struct wire_runtime_frame */
	uint32_t print;
};

/* What it is called from now on, whatever it was before. A text that says nothing is "[no name]". 0 or -ENOMEM. */
int code_names_put(struct code_names *n, const struct code_key *key, const struct code_text *text);
/* NULL: nobody has told it. Borrowed until the next put. */
struct code_name *code_names_find(struct code_names *n, const struct code_key *key);
/* The name with that text, of nobody's function. A reference, or NULL without memory. */
struct code_name *code_names_intern(struct code_names *n, const struct code_text *text);
/* The process has ended: its names are the first to go. */
void code_names_retract(struct code_names *n, uint32_t pid);

/* Of all names, also those that only others hold. */
size_t code_names_bytes(const struct code_names *n);

#endif

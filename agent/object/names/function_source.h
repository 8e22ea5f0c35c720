/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One source of the names of an object's functions: a symbol table, Go's tables.
 *
 * A source is asked for an address and tells more than that: from where to where its answer holds, also when it has none. So answers can
 * be kept without the source, and what one does not know another is asked. A new source is a new file and one line in function_info.c.
 *
 * One thread at a time. Bytes come from a file that may be hostile, or change under us: then names are missing or wrong, nothing else.
 */
#ifndef XAGENT_AGENT_OBJECT_NAMES_FUNCTION_SOURCE_H
#define XAGENT_AGENT_OBJECT_NAMES_FUNCTION_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/lines/source_frames.h"
#include "agent/util/arena.h"
#include "agent/util/buf.h"

struct function_piece {
	/* Around the address: every address from begin to before end has this answer. */
	uint64_t begin;
	uint64_t end;
	uint64_t function_begin; /* of the function; unset like the following when there is none */
	uint64_t function_end;
	uint64_t ref;  /* the source's own */
	bool is_guess; /* its size is not known: it reaches to where something else begins */
};

enum function_source_outcome {
	FUNCTION_SOURCE_NONE = 1, /* the source has nothing for this object, or this address */
	FUNCTION_SOURCE_OUTCOME_MAX
};

/* Addresses where functions begin; a negative result ends the enumeration and is forwarded. */
typedef int (*function_begin_fn)(uint64_t vaddr, void *data);

struct function_source {
	/* 0, FUNCTION_SOURCE_NONE (begin and end of *ret_piece are set), -errno. */
	int (*find)(struct function_source *s, uint64_t vaddr, struct function_piece *ret_piece);
	/* Appends the name, as linked. 0, FUNCTION_SOURCE_NONE, -errno. */
	int (*name)(struct function_source *s, const struct function_piece *piece,
		    struct buf *name);
	/* Ascending. 0, -errno (of fn, or of reading). */
	int (*begins)(struct function_source *s, function_begin_fn fn, void *data);
	/* File, line and inlined functions; NULL where a source knows none. The strings are put into the arena. 0,
	 * FUNCTION_SOURCE_NONE, -errno. */
	int (*frames)(struct function_source *s, uint64_t vaddr, struct arena *strings,
		      struct source_frames *ret_frames);
	size_t (*bytes)(const struct function_source *s); /* held, for accounting */
	void (*free)(struct function_source *s);
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Files, lines and inlined functions of one file's addresses, as far as they were asked for; that an address has none is kept, too. */
#ifndef XAGENT_AGENT_SYMBOL_LINE_CACHE_H
#define XAGENT_AGENT_SYMBOL_LINE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/object/demangle/demangle.h"
#include "agent/object/lines/source_frames.h"
#include "agent/util/hash.h"

struct line_frame {
	const char *function; /* to be shown; "": not known */
	const char *file;     /* "": not known */
	uint32_t line;
};

struct line_answer {
	struct hash_node node;
	uint64_t vaddr;
	uint32_t bytes;
	uint32_t n; /* 0: nothing is known */
	struct line_frame frames[];
};

struct line_cache {
	struct hash_table answers;
	size_t bytes;
};

void line_cache_fini(struct line_cache *c);
const struct line_answer *line_cache_find(const struct line_cache *c, uint64_t vaddr);
/* Of an address that is not there yet. Borrowed from the cache. 0 or -ENOMEM. */
int line_cache_add(struct line_cache *c, uint64_t vaddr, const struct source_frames *frames,
		   enum demangle_mode mode, const struct line_answer **ret_answer);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of one source: names of functions that stand in it, by where they begin in it, or by their number. One piece of memory. */
#ifndef XAGENT_AGENT_RUNTIMES_V8_KEPT_H
#define XAGENT_AGENT_RUNTIMES_V8_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/runtimes/runtime.h"
#include "agent/runtimes/v8/debug_id.h"

/* Of what reading may take: what is read a half, what is found in it and what is kept of that a quarter each. */
#define V8_TEXT_SHARE 2
#define V8_FOUND_SHARE 4
#define V8_KEPT_SHARE 4

struct kept_method {
	uint32_t begin, end;
	uint32_t text; /* bytes behind the last method */
	uint16_t n_text;
	uint8_t n_name;	  /* of it, the last ones */
	uint8_t n_before; /* "get ", before those: V8 may have it in the name, or not */
};

struct kept {
	uint32_t n;
	uint32_t
		n_file; /* of a module of WebAssembly: its script's name, with which the texts begin */
	char debug_id[DEBUG_ID_BYTES]; /* "": none */
	struct kept_method methods[];  /* and behind them their texts */
};

/* What reading may take at all. */
size_t v8_kept_room(const struct runtime_memory *memory);
/* Where the texts of n methods are. */
size_t v8_kept_texts(uint32_t n);
/* NULL: there is none. */
const struct kept_method *v8_kept_find(const struct kept *k, uint32_t begin);
const char *v8_kept_text(const struct kept *k, const struct kept_method *m);

#endif

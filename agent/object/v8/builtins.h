/* SPDX-License-Identifier: Apache-2.0 */
/*
 * V8's builtins in a file without symbols: where each one is (blob.h), and its name. Those are in a table of all builtins, in the order of their
 * description (builtin_metadata, builtins.cc):
 *
 *	char *	name
 *	u32	kind; 0: in C++
 *	u64	a function of C++, or something else
 *
 * It is found by the name of one that all versions have, and is believed if it has as many as are described, of which those in C++ have code of one
 * length, which is the same for all of them. Some of these have no name: their entries are made when the program starts. Pointers have to be in the
 * file, as GNU ld leaves them where it relocates, too.
 */
#ifndef XAGENT_AGENT_OBJECT_V8_BUILTINS_H
#define XAGENT_AGENT_OBJECT_V8_BUILTINS_H

#include "agent/object/v8/blob.h"

/* Node.js 16 to 26 have 1,724 to 2,415, the longest name 64 bytes. */
#define V8_BUILTINS_MAX 8192U
#define V8_BUILTIN_NAME_BYTES 128

struct v8_builtin {
	uint32_t begin, end; /* in the code */
	uint64_t name_at;    /* in the file; 0: none */
};

struct v8_builtins {
	uint64_t code_vaddr;
	uint32_t code_bytes;
	uint32_t n;
	struct v8_builtin *all; /* ascending */
};

/*
 * What a description of n bytes says, if it is of all of the code: the number of builtins (0: it is not), of which ret_all has room for
 * V8_BUILTINS_MAX.
 */
uint32_t v8_builtins_described(const uint8_t *description, size_t n, uint32_t code_bytes,
			       struct v8_builtin *ret_all);

/* False: there are none, or no names of them. */
bool v8_builtins_find(const struct elf *elf, struct v8_builtins *ret_builtins);
void v8_builtins_fini(struct v8_builtins *builtins);

#endif

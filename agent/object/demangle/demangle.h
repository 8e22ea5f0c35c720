/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as people write them: Itanium C++, Rust (legacy and v0), D. Everything else, Swift too,
 * stays as it is.
 *
 * Hostile names cost a bounded time and memory: names and results have ceilings, the recursion
 * limit of libiberty is on, and a result that grows too long ends the work at once. What cannot be
 * demangled stays as it is. Modes without parameters do not look at what follows the name. Any
 * thread.
 */
#ifndef XAGENT_AGENT_OBJECT_DEMANGLE_DEMANGLE_H
#define XAGENT_AGENT_OBJECT_DEMANGLE_DEMANGLE_H

#include <stdbool.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

enum demangle_mode {
	DEMANGLE_NONE,	     /* the name untouched */
	DEMANGLE_SIMPLIFIED, /* no parameters, no enclosing function's parameters, no template
				arguments */
	DEMANGLE_TEMPLATES, /* no parameters, no enclosing function's parameters; template arguments
			       kept */
	DEMANGLE_FULL, /* all but clone suffixes (.cold, .part.0, .isra.0 …) and Rust's hash */
	DEMANGLE_MODE_MAX
};

/* libiberty refuses C++ names above 1 KiB by itself (2 * length > its recursion limit of 2048);
 * Rust's are longer. */
#define DEMANGLE_MAX_NAME_BYTES 4096
/* D has no output callback to stop at: its names are kept short, and so is the number of their back
 * references, each of which may repeat what came before (at worst 3^(n/3)-fold). */
#define DEMANGLE_MAX_D_NAME_BYTES 1024
#define DEMANGLE_MAX_D_REFERENCES 20
/* What libiberty may print before it is stopped. The simplified form is far shorter. */
#define DEMANGLE_MAX_OUTPUT_BYTES ((size_t)64 * 1024)
/* Longest name that leaves here; the rest is cut and ends in "…". Function names in profiles are
 * read by people. */
#define DEMANGLE_MAX_RESULT_BYTES ((size_t)4096)

/* "none", "simplified", "templates", "full". */
bool demangle_mode_parse(struct str text, enum demangle_mode *ret_mode);
const char *demangle_mode_text(enum demangle_mode mode);

/* Replaces the content of `out` by the name to show, valid UTF-8 without control characters. 0, or
 * -ENOMEM / -ENOBUFS. */
int demangle(struct str name, enum demangle_mode mode, struct buf *out);

#endif

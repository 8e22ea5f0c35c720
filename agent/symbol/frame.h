/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame: an address with its name.
 *
 * All strings, and the object, are borrowed from the symbol store and stay valid until
 * symbol_store_end(); after it every pointer of the interval may dangle. They are valid UTF-8,
 * without control characters, and never NULL.
 */
#ifndef XAGENT_AGENT_SYMBOL_FRAME_H
#define XAGENT_AGENT_SYMBOL_FRAME_H

#include <stdint.h>

enum frame_object_kind {
	FRAME_OBJECT_KERNEL, /* the kernel, a module of it, BPF programs */
	FRAME_OBJECT_FILE,
	FRAME_OBJECT_VDSO,
	FRAME_OBJECT_SOURCE, /* of a function of a runtime, where that has an id */
	FRAME_OBJECT_ANON,   /* memory without a file, or nothing known at all */
	FRAME_OBJECT_KIND_MAX
};

struct frame_object {
	enum frame_object_kind kind;
	const char *path;     /* as the process sees it, or "[kernel]", "[nf_tables]", "[bpf]",
				 "[vdso]", "[anon]"; of a source its name */
	const char *build_id; /* hex, or Go's text, or a source's UUID; "" when not known */
};

struct frame {
	const char *function; /* never "" */
	const char *file;     /* source file; "" when not known */
	uint32_t line;	      /* 0 when not known */
	uint32_t column;      /* within the line, from 1; 0 when not known */
	uint32_t start_line;  /* where a runtime's function begins; 0 when not known */
	const struct frame_object *object;
};

/* Functions inlined into each other at one address; compilers stop well before. */
#define FRAMES_MAX 64

/* The frames of one address, innermost first. */
struct frames {
	uint32_t n;
	struct frame items[FRAMES_MAX];
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a Go program as Go itself tells them: names, files, lines, and what was inlined, stripped programs too.
 *
 *	address ──► function (gopclntab) ──► name
 *	               ├──► pcfile ──► file of its compilation unit        ┐ of the address itself, then of each call,
 *	               ├──► pcline ──► line                                │ from the innermost to the function
 *	               └──► index in the tree of inlined calls ──► name    ┘
 *
 * All versions from 1.16 to 1.26. The trees lie at runtime.gofunc, which stands in the moduledata (1.18 on), or the function has a
 * pointer to its own (1.16, 1.17). Nothing is held but every 512th entry and small windows of the file. Used by one thread at a time.
 */
#ifndef XAGENT_AGENT_OBJECT_GO_GO_SYMBOLS_H
#define XAGENT_AGENT_OBJECT_GO_GO_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "agent/object/go/gopclntab.h"
#include "agent/object/lines/source_frames.h"
#include "agent/util/arena.h"
#include "agent/util/buf.h"
#include "agent/util/cleanup.h"

/* NAME_MAX times a few: paths of modules with their versions come to some 200 bytes. */
#define GO_SYMBOLS_MAX_FILE_BYTES 4096
/* Steps through values by pc that one go_symbols_frames() may take, about 2 ms: a function of 200 KiB, of the largest that compilers
 * make, has some 40,000 values a table. */
#define GO_SYMBOLS_MAX_STEPS (1u << 18)

struct go_function {
	uint64_t begin; /* vaddr */
	uint64_t end;	/* of the padding behind it */
	uint32_t index; /* in the table */
};

struct go_symbols;

/* 0; GOPCLNTAB_NONE: no Go program, or a layout that is not known; -errno. `elf` is borrowed until free; the descriptor behind it may
 * be exchanged (elf_set_fd), and must be open when anything below is asked. */
int go_symbols_new(struct elf *elf, struct go_symbols **ret_symbols);
void go_symbols_free(struct go_symbols *symbols); /* NULL-safe */
DEFINE_CLEANUP(struct go_symbols *, go_symbols_free);
/* What it holds, for accounting. */
size_t go_symbols_bytes(const struct go_symbols *symbols);

/* All: 0, GOPCLNTAB_NONE, -errno. */

/* The function that holds the address. C functions that Go's linker laid into the text are among them. */
int go_symbols_find(struct go_symbols *symbols, uint64_t vaddr, struct go_function *ret_function);
/* Appends the name as Go prints it: `main.(*T).Method`, `main.main.func1`, `main.Map[...]`. */
int go_symbols_name(struct go_symbols *symbols, const struct go_function *function,
		    struct buf *name);
/* The address is that of an instruction, or inside of it: of a call, not of what follows. GOPCLNTAB_NONE for C functions, which
 * have no lines here. -ENOMEM also when the arena is full. */
int go_symbols_frames(struct go_symbols *symbols, uint64_t vaddr, struct arena *strings,
		      struct source_frames *ret_frames);

#endif

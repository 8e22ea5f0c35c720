/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of names of memory without a file: what the process itself wrote about the code that it generates, or what the kernel
 * calls the memory.
 *
 * An index for each process's files, brought up to date once an interval when it is asked for. It holds addresses only; names are read
 * when a frame needs them, into the arena of the interval, so an index may go at any time. Those not used in this interval make room for
 * those that are; when all are in use, what is left is for the newest functions of the one that comes last.
 */
#ifndef XAGENT_AGENT_SYMBOL_JIT_SYMBOLS_H
#define XAGENT_AGENT_SYMBOL_JIT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/jit_files.h"
#include "agent/symbol/frame.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/arena.h"

/* Read of one process's files in one interval, and of all: some 0.3 s of parsing; the rest is read in the next. */
#define JIT_SYMBOLS_MAX_READ ((uint64_t)32 << 20)
#define JIT_SYMBOLS_MAX_READ_ALL ((uint64_t)128 << 20)
/* Intervals that an index is kept for nobody: its process is gone, or does not run that code. */
#define JIT_SYMBOLS_MAX_IDLE 8

struct jit_symbols;

/* `telemetry` (may be NULL) and `names`, the arena for names of one interval, are borrowed. */
int jit_symbols_new(size_t max_bytes, struct telemetry *telemetry, struct arena *names,
		    struct jit_symbols **ret_symbols);
void jit_symbols_free(struct jit_symbols *s); /* NULL-safe */
DEFINE_CLEANUP(struct jit_symbols *, jit_symbols_free);

/* The function at `pc` at that moment, as the process itself tells in `jit` (may be NULL), else what the kernel calls the memory ("[heap]";
 * NULL: nothing). Both are borrowed for the call. False: neither has a name. */
bool jit_symbols_resolve(struct jit_symbols *s, const struct jit_files *jit, uint64_t pc,
			 const struct jit_moment *at, const char *memory,
			 struct frames *ret_frames);

void jit_symbols_begin(struct jit_symbols *s, uint64_t now_ns);
/* Names handed out become invalid. */
void jit_symbols_end(struct jit_symbols *s);
size_t jit_symbols_bytes(const struct jit_symbols *s);

#endif

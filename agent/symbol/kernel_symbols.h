/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of the kernel's names: kallsyms, loaded when first asked for.
 *
 * An address that no function covers may be of a module or BPF program that is newer than the
 * index: it is then read again, at most once a minute, and more rarely (up to an hour) while that
 * does not help.
 */
#ifndef XAGENT_AGENT_SYMBOL_KERNEL_SYMBOLS_H
#define XAGENT_AGENT_SYMBOL_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/object/demangle.h"
#include "agent/symbol/symbolizer.h"
#include "agent/util/arena.h"
#include "agent/util/clock.h"

#define KERNEL_SYMBOLS_RELOAD_NS (60 * NS_PER_S)
#define KERNEL_SYMBOLS_MAX_RELOAD_NS (3600 * NS_PER_S)

struct kernel_symbols;

/* `path` and `names`, the arena for names of one interval, are borrowed. */
int kernel_symbols_new(const char *path, struct arena *names, struct kernel_symbols **ret_symbols);
void kernel_symbols_free(struct kernel_symbols *s); /* NULL-safe */
DEFINE_CLEANUP(struct kernel_symbols *, kernel_symbols_free);

/* Borrowed. Passes what is no kernel address, and what has no name. */
struct symbolizer *kernel_symbols_symbolizer(struct kernel_symbols *s);
/* At the beginning of an interval: when it is, by CLOCK_MONOTONIC, for the pace of reloading. */
void kernel_symbols_set_time(struct kernel_symbols *s, uint64_t now_ns);
/* Names handed out become invalid. */
void kernel_symbols_end(struct kernel_symbols *s);
void kernel_symbols_set_demangle(struct kernel_symbols *s, enum demangle_mode mode);
bool kernel_symbols_hidden(const struct kernel_symbols *s);
size_t kernel_symbols_bytes(const struct kernel_symbols *s);

#endif

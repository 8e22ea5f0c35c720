/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of the kernel's names: kallsyms, loaded when first asked for.
 *
 * The kernel's own functions stay where they are; modules and BPF programs come, go, and take each
 * other's places. So an address outside of the kernel's own is looked up in an index that is not
 * older than what is loaded. Of BPF programs and the like the side-band tells, and what it tells is laid over the index
 * (kernel_changes.h). Of modules it does not: /proc/modules is compared once an interval (0.1 ms). Where they changed, or not all was told,
 * the index is read again, which takes some 60 ms: at most each 10 s, and more rarely (up to a minute) while that changes no name.
 *
 * An address that nothing covers, though nothing is known to have changed, is worth a reading once
 * a minute, and more rarely (up to an hour) while that does not help.
 */
#ifndef XAGENT_AGENT_SYMBOL_KERNEL_SYMBOLS_H
#define XAGENT_AGENT_SYMBOL_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/object/demangle/demangle.h"
#include "agent/process/kernel_text.h"
#include "agent/symbol/frame.h"
#include "agent/util/arena.h"
#include "agent/util/clock.h"

#define KERNEL_SYMBOLS_RELOAD_NS (60 * NS_PER_S)
#define KERNEL_SYMBOLS_MAX_RELOAD_NS (3600 * NS_PER_S)

#define KERNEL_SYMBOLS_CHANGE_NS (10 * NS_PER_S)
#define KERNEL_SYMBOLS_MAX_CHANGE_NS (60 * NS_PER_S)

struct kernel_symbols_options {
	const char *path;	  /* /proc/kallsyms; borrowed, as all that follow */
	const char *modules_path; /* /proc/modules; NULL: nothing tells that modules change */
	const char *notes_path;	  /* /sys/kernel/notes; NULL: the kernel has no build id */
	size_t max_bytes;	  /* of the index; while it is read, 16 bytes more a function */
	struct arena *names;	  /* for names of one interval */
};

struct kernel_symbols;

int kernel_symbols_new(const struct kernel_symbols_options *options,
		       struct kernel_symbols **ret_symbols);
void kernel_symbols_free(struct kernel_symbols *s); /* NULL-safe */
DEFINE_CLEANUP(struct kernel_symbols *, kernel_symbols_free);

/* The function at an address of the kernel. False: it has no name, or names are hidden. */
bool kernel_symbols_resolve(struct kernel_symbols *s, uint64_t pc, struct frames *ret_frames);
/* At the beginning of an interval: when it is, by CLOCK_MONOTONIC, for the pace of reloading. */
void kernel_symbols_set_time(struct kernel_symbols *s, uint64_t now_ns);
/* What has come and gone since the last call. Between intervals. */
void kernel_symbols_changed(struct kernel_symbols *s, const struct kernel_text *text);
/* How often the file was read. */
uint64_t kernel_symbols_n_read(const struct kernel_symbols *s);
/* Names handed out become invalid. */
void kernel_symbols_end(struct kernel_symbols *s);
void kernel_symbols_set_demangle(struct kernel_symbols *s, enum demangle_mode mode);
bool kernel_symbols_hidden(const struct kernel_symbols *s);
/* Functions that found no room in max_bytes: they are [kernel]. */
uint64_t kernel_symbols_n_skipped(const struct kernel_symbols *s);
size_t kernel_symbols_bytes(const struct kernel_symbols *s);

#endif

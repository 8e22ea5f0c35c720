/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's symbols, from /proc/kallsyms: functions of the kernel, its modules and BPF programs.
 *
 * The index is 4 bytes a function (its distance to the base of its segment), and 7 for its packed
 * name; names that were asked for lately are kept unpacked (64 KiB). Functions at the same address: global before weak before local, then the fewest leading
 * underscores, the shortest, the first read.
 *
 * Used by one thread.
 */
#ifndef XAGENT_AGENT_SYMBOL_KALLSYMS_H
#define XAGENT_AGENT_SYMBOL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

/* A large distribution kernel with all modules loaded has 300,000 text symbols. */
#define KALLSYMS_MAX_SYMBOLS ((size_t)1 << 20)
/* Of an index: 11 bytes for each of them, and a third more. While it is read, 16 more a function. */
#define KALLSYMS_MAX_BYTES ((size_t)16 << 20)
/* KSYM_NAME_LEN is 512 since Linux 6.1, MODULE_NAME_LEN below 64: longer lines are malformed and
 * skipped. */
#define KALLSYMS_MAX_LINE_BYTES 1024
/* The last function before a hole (end of the kernel's text, of a module, of a BPF program) is
 * taken to be no longer than this. */
#define KALLSYMS_MAX_LAST_BYTES ((uint64_t)64 * 1024)

enum kallsyms_state {
	KALLSYMS_LOADED,
	KALLSYMS_HIDDEN, /* all addresses are zero (kptr_restrict, no CAP_SYSLOG), or there is no
			    such file */
	KALLSYMS_STATE_MAX
};

struct kallsyms;

struct kallsyms_symbol {
	uint64_t begin;
	uint64_t end;
	const char *name;   /* borrowed until the next look-up; valid UTF-8 */
	const char *module; /* "" for the kernel itself; "nf_tables", "bpf" without brackets;
			       borrowed from the index */
};

/* Text that comes in pieces, however it is cut. */
struct kallsyms_parser;
/* What does not fit into max_bytes is skipped, modules that come last first. */
int kallsyms_parser_new(size_t max_bytes, struct kallsyms_parser **ret_parser);
void kallsyms_parser_free(struct kallsyms_parser *parser); /* NULL-safe */
DEFINE_CLEANUP(struct kallsyms_parser *, kallsyms_parser_free);
/* 0, -ENOMEM, -ENOBUFS (names that nothing packs). */
int kallsyms_parser_feed(struct kallsyms_parser *parser, const char *text, size_t n);
/* Consumes the parser whatever it returns: 0 or -errno as before. */
int kallsyms_parser_finish_take(struct kallsyms_parser *parser, struct kallsyms **ret_kallsyms);

/* Reads the file. A missing or unreadable one gives the state KALLSYMS_HIDDEN. 0,
 * -ENOMEM, -ENOBUFS. */
int kallsyms_load(const char *path, size_t max_bytes, struct kallsyms **ret_kallsyms);
void kallsyms_free(struct kallsyms *k); /* NULL-safe */
DEFINE_CLEANUP(struct kallsyms *, kallsyms_free);

enum kallsyms_state kallsyms_state(const struct kallsyms *k);
size_t kallsyms_n_symbols(const struct kallsyms *k);
size_t kallsyms_bytes(const struct kallsyms *k);
/* Functions that found no room: nothing covers their addresses. */
uint64_t kallsyms_n_skipped(const struct kallsyms *k);
/* The modules seen, "bpf" among them: 0 … n − 1, NULL behind the last. Entry 0 is "", the kernel.
 */
const char *kallsyms_module(const struct kallsyms *k, size_t i);

/* False: no function covers pc. */
bool kallsyms_find(struct kallsyms *k, uint64_t pc, struct kallsyms_symbol *ret_symbol);
/* Whether something that is not the kernel's own begins there. */
bool kallsyms_begins(const struct kallsyms *k, uint64_t address);
/* Nothing is looked up for a while: what only that needs, some 100 KB, is given back. */
void kallsyms_rest(struct kallsyms *k);

#endif

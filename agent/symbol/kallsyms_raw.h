/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of the kernel between the text and the index: what the files of the parser share. */
#ifndef XAGENT_AGENT_SYMBOL_KALLSYMS_RAW_H
#define XAGENT_AGENT_SYMBOL_KALLSYMS_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/symbol/kallsyms_internal.h"
#include "agent/util/str.h"

struct raw_symbol {
	uint64_t address;
	uint32_t name; /* place in the batch's names; later its number */
	uint16_t module;
	uint16_t rank; /* the smaller the better: binding, then leading underscores */
};

struct raw_symbols {
	struct raw_symbol *items;
	size_t n;
	size_t cap;
};

/* One line of the text. */
struct kallsyms_line {
	uint64_t address;
	struct str name;   /* borrowed from the line */
	struct str module; /* the same; "" for the kernel's own */
	uint16_t rank;	   /* UINT16_MAX: nothing begins here */
};

/* kallsyms_line.c: what is no such line, no code or padding gives false. */
bool kallsyms_line_parse(struct str line, struct kallsyms_line *ret_line);

/* kallsyms_index.c. 0 or -ENOMEM. */
int raw_symbols_push(struct raw_symbols *to, const struct raw_symbol *symbol);
/* How many at the front are in order. */
size_t raw_symbols_n_sorted(const struct raw_symbols *s);
/* Of those at one address, the first stays. */
void raw_symbols_unite(struct raw_symbols *s);
/* Starts, segments and runs of `k`, out of all symbols, which are put in order. 0 or -ENOMEM. */
int kallsyms_build_index(struct kallsyms *k, struct raw_symbols *all);

#endif

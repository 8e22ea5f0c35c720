/* SPDX-License-Identifier: Apache-2.0 */
/* A file's names, looked at: its sources, all functions, single addresses; as text on standard output. */
#ifndef XAGENT_AGENT_CLI_INSPECT_NAMES_H
#define XAGENT_AGENT_CLI_INSPECT_NAMES_H

#include "agent/object/demangle.h"
#include "agent/symbol/elf_symbols.h"
#include "agent/util/buf.h"

struct inspect_names {
	const char *path; /* borrowed */
	int fd;
	int debug_fd;
	struct elf_symbols *elf_symbols;
	struct dwarf_client *dwarf; /* owned */
	struct elf_symbols_options options;
};

#define INSPECT_NAMES_INIT ((struct inspect_names){ .fd = -1, .debug_fd = -1 })

/* 0, or -errno with one line in `why` that names the file. */
int inspect_names_open(struct inspect_names *n, const char *path, enum demangle_mode mode,
		       struct buf *why);
void inspect_names_fini(struct inspect_names *n);
#define _cleanup_inspect_names_ _cleanup_(inspect_names_fini)

/* All: 0 or -errno. */
int inspect_names_print_sources(struct inspect_names *n);
int inspect_names_print_all(struct inspect_names *n);
int inspect_names_print(struct inspect_names *n, uint64_t vaddr, bool with_lines);

#endif

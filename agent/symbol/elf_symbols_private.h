/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of elf_symbols share. */
#ifndef XAGENT_AGENT_SYMBOL_ELF_SYMBOLS_PRIVATE_H
#define XAGENT_AGENT_SYMBOL_ELF_SYMBOLS_PRIVATE_H

#include "agent/symbol/elf_symbols.h"

bool elf_symbols_is_readable(const struct elf_symbols *elf_symbols,
			     const struct elf_symbols_access *access);
/* What can be read at present, by the descriptors at hand: files of one content may be read in each other's place. */
struct function_files elf_symbols_files(struct elf_symbols *elf_symbols,
					const struct elf_symbols_options *options,
					const struct elf_symbols_access *access);
/* Asks for the server's file where that was not done. 0: it came now; ELF_SYMBOLS_NO_NAME, with *ret_is_pending set when it may come later;
 * -errno. */
int elf_symbols_fetch(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		      const struct elf_symbols_access *access, bool *ret_is_pending);

#endif

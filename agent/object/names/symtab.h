/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of an object: a sorted index over .symtab and .dynsym together, 8 bytes an entry,
 * names left in the file.
 *
 * An entry is {address, where its symbol is in the file}; size and name are read with pread when a
 * symbol is asked for, so the object's bytes must be readable then too (the calls take them; they
 * must be of the same file). A file that changed in between gives wrong or no names, never a crash.
 *
 * Which symbol names an address:
 *  - STT_FUNC and STT_GNU_IFUNC cover [value, value + size). Where they overlap, the one that
 *    begins last wins, and behind its end the outer one goes on.
 *  - A symbol without size reaches to the next symbol or the end of its section, and only where no
 *    sized one is.
 *  - STT_NOTYPE in an executable section names only what no function covers. Mapping symbols
 *    ($x, $d …) name nothing.
 *  - Of several at one address: function before no type, sized before unsized, global before weak
 *    before local, .symtab before .dynsym; then the name with the fewest leading underscores, the
 *    shortest, the first in byte order.
 *
 * Without section headers, DT_SYMTAB is used. Compressed symbol tables (no linker makes them) count
 * as absent.
 */
#ifndef XAGENT_AGENT_OBJECT_NAMES_SYMTAB_H
#define XAGENT_AGENT_OBJECT_NAMES_SYMTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Symbols of one table that are looked at; the largest known tables (browsers, LLVM with all
 * targets) have 3 million. */
#define SYMTAB_MAX_SYMBOLS ((uint32_t)1 << 23)
/* Functions that are indexed, lowest table positions first: 16 MiB of index, 48 MiB while it is
 * built. */
#define SYMTAB_MAX_FUNCTIONS ((uint32_t)1 << 21)
/* Equal candidates at one address whose names are compared; identical code folding makes thousands.
 */
#define SYMTAB_MAX_ALIASES 8
/* Longest symbol name; deeper template nests than this exist only in tests. */
#define SYMTAB_MAX_NAME_BYTES ((size_t)64 * 1024)

enum symtab_outcome {
	SYMTAB_NONE = 1, /* nothing covers the address */
	SYMTAB_OUTCOME_MAX
};

struct symtab;

struct symtab_symbol {
	uint64_t begin; /* vaddr */
	uint64_t end;	/* behind the last byte */
	uint32_t entry; /* of the index */
	bool is_sized;	/* else `end` is where something else begins */
};

/* What an address and its neighbours have in common. */
struct symtab_piece {
	/* Around the address: the answer is the same from begin to before end. */
	uint64_t begin;
	uint64_t end;
	struct symtab_symbol symbol; /* unset when there is none */
};

enum symtab_tables {
	SYMTAB_ALL,    /* .symtab and .dynsym */
	SYMTAB_STATIC, /* .symtab; of debug files and the like, where nothing is loaded */
	SYMTAB_DYNAMIC,
};

/* Reads the tables of `elf` (loads its sections). An object without any symbol gives an empty
 * index. 0, -errno. */
int symtab_new(struct elf *elf, struct symtab **ret_symtab);
/* The same of some tables only, and of the addresses that are text in `text`, which is `elf` or the
 * file that it describes. */
int symtab_new_of(struct elf *elf, enum symtab_tables tables, const struct elf *text,
		  struct symtab **ret_symtab);
void symtab_free(struct symtab *symtab); /* NULL-safe */
DEFINE_CLEANUP(struct symtab *, symtab_free);

size_t symtab_bytes(const struct symtab *symtab);
size_t symtab_n_entries(const struct symtab *symtab);
/* Functions beyond SYMTAB_MAX_FUNCTIONS, or more than 4 GiB above the first, that are missing. */
uint64_t symtab_n_skipped(const struct symtab *symtab);

/* The entry at or before the address, read from memory alone; every address that gives one entry
 * has the same symbol or none (when it is behind the symbol's end). 0 or SYMTAB_NONE. */
int symtab_locate(const struct symtab *symtab, uint64_t vaddr, uint32_t *ret_entry);
/* The symbol of an entry. 0, SYMTAB_NONE (the entry only marks an end, or the file has changed),
 * -errno. */
int symtab_symbol(const struct symtab *symtab, const struct bytes *bytes, uint32_t entry,
		  struct symtab_symbol *ret_symbol);
/* Both in one, for keeping answers: 0, SYMTAB_NONE (*ret_piece says from where to where), -errno. */
int symtab_find(const struct symtab *symtab, const struct bytes *bytes, uint64_t vaddr,
		struct symtab_piece *ret_piece);
/* Where functions begin, ascending, each once: the i-th entry's address, and whether it begins one there, as
 * far as memory tells. */
bool symtab_entry_begins(const struct symtab *symtab, size_t i, uint64_t *ret_vaddr);
/* Appends the name, without its version (memcpy@@GLIBC_2.14). Raw bytes of the file. 0,
 * SYMTAB_NONE, -errno (-ENOBUFS: the buffer). */
int symtab_name(const struct symtab *symtab, const struct bytes *bytes,
		const struct symtab_symbol *symbol, struct buf *name);

#endif

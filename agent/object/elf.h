/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers of one ELF file: what kind it is, its segments, its sections. 32-bit and 64-bit, of
 * this machine's byte order, any machine. Knows no process, never logs.
 *
 * Contents are never held: readers of notes, symbols or CFI take file ranges from here and read
 * them through elf_bytes(). Segments are read when the object is made; sections on first use, and
 * may be absent or garbage without harm to what needs segments only.
 *
 * A struct elf is used by one thread at a time.
 */
#ifndef XAGENT_AGENT_OBJECT_ELF_H
#define XAGENT_AGENT_OBJECT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/bytes.h"
#include "agent/util/cleanup.h"

/* Linkers write about a dozen; prelink and patchelf a few more. */
#define ELF_MAX_SEGMENTS 256
/* An executable or shared object has 25 to 45; -ffunction-sections objects, which are never mapped,
 * have thousands. */
#define ELF_MAX_SECTIONS 4096
/* Longest table of section names that is read: 4096 names of 63 bytes. */
#define ELF_MAX_SECTION_NAMES_BYTES ((size_t)256 * 1024)
/* NAME_MAX + 1: a soname is a file name. */
#define ELF_SONAME_BYTES 256
/* Entries of the dynamic section that are looked at; the largest known have about 1,000 DT_NEEDED.
 */
#define ELF_MAX_DYNAMIC 4096

enum elf_outcome {
	ELF_NOT_ELF = 1, /* another kind of file */
	ELF_MALFORMED,	 /* ELF, but its headers contradict themselves or lie outside of the file */
	ELF_FOREIGN,	 /* the other byte order, or an unknown version */
	ELF_OUTCOME_MAX
};

struct elf_segment {
	uint32_t type;	/* PT_* */
	uint32_t flags; /* PF_* */
	uint64_t file_off;
	uint64_t file_bytes;
	uint64_t vaddr;
	uint64_t memory_bytes;
	uint64_t align;
};

struct elf_section {
	uint32_t name_off; /* in the table of section names */
	uint32_t type;	   /* SHT_* */
	uint64_t flags;	   /* SHF_* */
	uint64_t vaddr;
	uint64_t file_off;
	uint64_t size_bytes;
	uint64_t entry_bytes;
	uint32_t link;
	uint32_t info;
};

struct elf;

/* The descriptor or memory behind `bytes` is borrowed until elf_free(). 0, an elf_outcome, or
 * -errno (-ENOMEM, read errors). */
int elf_new(struct bytes bytes, struct elf **ret_elf);
void elf_free(struct elf *elf); /* NULL-safe */
DEFINE_CLEANUP(struct elf *, elf_free);

const struct bytes *elf_bytes(const struct elf *elf);
/* The same file through another descriptor, when the one given before is to be closed. Borrowed as
 * before. */
void elf_set_fd(struct elf *elf, int fd);
bool elf_is_64(const struct elf *elf);
uint16_t elf_machine(const struct elf *elf);	 /* EM_* */
uint16_t elf_object_type(const struct elf *elf); /* ET_* */
size_t elf_memory_bytes(const struct elf *elf);	 /* what this object holds, for accounting */

size_t elf_n_segments(const struct elf *elf);
const struct elf_segment *elf_segment(const struct elf *elf, size_t i);

/*
 * The address, as linked, of a byte of the file that is mapped executable. The kernel maps whole
 * pages, so an offset up to a page before p_offset, or behind p_filesz in the last page, belongs to
 * the segment as well; a segment that holds it exactly wins. False: no executable PT_LOAD holds it.
 */
bool elf_vaddr(const struct elf *elf, uint64_t file_off, uint64_t *ret_vaddr);
/* The converse, for any PT_LOAD; false when the file does not hold the address. */
bool elf_file_off(const struct elf *elf, uint64_t vaddr, uint64_t *ret_file_off);
/* The file's own bytes at an address, before any relocation; false when it has not all of them. */
bool elf_read(const struct elf *elf, uint64_t vaddr, void *dst, size_t n);
/* The lowest and the end of the highest address of executable PT_LOADs; false when there is none.
 */
bool elf_text_range(const struct elf *elf, uint64_t *ret_begin, uint64_t *ret_end);

/* Reads the section table if that was not done. 0 (also when there is none), ELF_MALFORMED, or
 * -errno. */
int elf_load_sections(struct elf *elf);
/* Forgets it; section pointers become invalid. */
void elf_drop_sections(struct elf *elf);
size_t elf_n_sections(const struct elf *elf); /* 0 until loaded */
/* Borrowed; NULL when there is no such index. */
const struct elf_section *elf_section(const struct elf *elf, size_t i);
/* "" when the name is outside of its table. Borrowed. */
const char *elf_section_name(const struct elf *elf, const struct elf_section *section);
/* The first of that name or type; NULL when there is none. */
const struct elf_section *elf_section_by_name(const struct elf *elf, const char *name);
const struct elf_section *elf_section_by_type(const struct elf *elf, uint32_t type);

/* The value of the first entry with that DT_* tag. True when there is one. */
bool elf_dynamic(const struct elf *elf, int64_t tag, uint64_t *ret_value);
/* DT_SONAME, valid UTF-8, NUL terminated; false when there is none. */
bool elf_soname(const struct elf *elf, char ret_soname[ELF_SONAME_BYTES]);

#endif

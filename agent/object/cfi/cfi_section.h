/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A section of call frame information: where it is, and its bytes; either all of it in memory
 * (cfi_section_load()), or through small windows.
 */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_SECTION_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_SECTION_H

#include "agent/object/cfi/cfi_cursor.h"
#include "agent/object/cfi/cfi_inflate.h"
#include "agent/object/cfi/cfi_pointer.h"
#include "agent/object/elf.h"
#include "agent/object/rules/dwarf_abi.h"

struct cfi_section {
	struct elf *elf; /* borrowed */
	const struct dwarf_abi *abi;
	bool is_eh;		 /* .eh_frame, not .debug_frame */
	bool ends_at_terminator; /* its size is not known: up to the first entry without a length */
	uint64_t vaddr;		 /* of its first byte; 0 where it is not mapped */
	uint64_t n_bytes;	 /* plain, and in the file */
	struct cfi_bases bases;	 /* for pointers outside of functions */
	struct cfi_packed packed;
	uint8_t *data; /* owned; all of it, or NULL */
};

/* A part of the section in memory. */
struct cfi_window {
	uint8_t *data; /* owned */
	size_t cap;
	size_t step; /* it reads at least this much */
	uint64_t off;
	size_t n;
};

#define CFI_WINDOW_INIT(n_step) ((struct cfi_window){ .step = (n_step) })
void cfi_window_fini(struct cfi_window *w);

/* 0; UNWIND_SOURCE_NONE: there is none, or it has no contents; -errno. */
int cfi_section_find_eh(struct elf *elf, struct cfi_section *ret_section);
int cfi_section_find_debug(struct elf *elf, struct cfi_section *ret_section);

/* All of it into memory. 0; UNWIND_SOURCE_TOO_LARGE: more than max_bytes; UNWIND_SOURCE_NONE: it
 * cannot be unpacked; -errno. */
int cfi_section_load(struct cfi_section *section, uint64_t max_bytes);
void cfi_section_unload(struct cfi_section *section);

int cfi_section_view_window(const struct cfi_section *section, struct cfi_window *w, uint64_t off,
			    size_t n, struct cfi_cursor *ret_cursor);

/* The section from off on, n bytes of it at least, fewer only at its end. Valid until the window's
 * next use; the window may be NULL when the section is loaded. 0 or -errno. */
static inline int cfi_section_view(const struct cfi_section *section, struct cfi_window *w,
				   uint64_t off, size_t n, struct cfi_cursor *ret_cursor)
{
	if (!section->data || off > section->n_bytes)
		return cfi_section_view_window(section, w, off, n, ret_cursor);
	*ret_cursor = (struct cfi_cursor){
		.at = section->data + off,
		.end = section->data + section->n_bytes,
		.bias = section->vaddr - (uintptr_t)section->data,
	};
	return 0;
}

#endif

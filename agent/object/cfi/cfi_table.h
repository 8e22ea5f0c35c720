/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .eh_frame_hdr: where .eh_frame is, and a table of its FDEs, ascending by where their code begins (LSB 5, "The .eh_frame_hdr section").
 * Read where it lies; nothing is held.
 */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_TABLE_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_TABLE_H

#include "agent/object/elf.h"

struct cfi_table {
	uint64_t eh_frame_vaddr;
	uint64_t vaddr;	   /* of .eh_frame_hdr: entries are relative to it */
	uint64_t file_off; /* of the first entry */
	uint32_t n;	   /* 0: no table, or none that can be searched */
};

struct cfi_table_entry {
	uint64_t begin; /* vaddr of the code */
	uint64_t fde;	/* vaddr of the FDE */
};

/* So few are read at once: a system call takes as long as copying some thousand bytes. */
#define CFI_TABLE_WINDOW_ENTRIES 128

/* Entries that were read last: who asks for ascending addresses finds most of them there. */
struct cfi_table_window {
	uint32_t first;
	uint32_t n; /* 0: nothing was read */
	int32_t raw[CFI_TABLE_WINDOW_ENTRIES][2];
};

enum cfi_table_outcome {
	CFI_TABLE_BAD = 1, /* not ascending */
	CFI_TABLE_OUTCOME_MAX
};

/* False: there is none. */
bool cfi_table_open(struct elf *elf, struct cfi_table *ret_table);
int cfi_table_entry(const struct cfi_table *table, const struct bytes *bytes,
		    const struct cfi_table_window *w, uint32_t i,
		    struct cfi_table_entry *ret_entry);
/* How many entries begin at or below vaddr. The window is of this table and file, or empty. 0, CFI_TABLE_BAD, -errno. */
int cfi_table_search(const struct cfi_table *table, const struct bytes *bytes,
		     struct cfi_table_window *w, uint64_t vaddr, uint32_t *ret_n);

#endif

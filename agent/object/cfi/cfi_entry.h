/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of a section (DWARF 5 §6.4.1, LSB 5 "The .eh_frame section"):
 *
 *	entry := length, id, (CIE | FDE); without a length it is a terminator
 *	CIE := version, augmentation, alignments, return address column, augmentation data, program
 *	FDE := where its CIE is, begin, range, augmentation data, program
 */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_ENTRY_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_ENTRY_H

#include "agent/object/cfi/cfi_section.h"
#include "agent/object/cfi/cfi_state.h"

/* What is before the program of an FDE, augmentation left out: length, CIE pointer and two pointers of at most 12, 8, 8 (segment), 17
 * (aligned) and 10 bytes. */
#define CFI_HEAD_BYTES 64
/* A function with 100,000 calls that push arguments has about 400 KB. */
#define CFI_MAX_ENTRY_BYTES ((uint64_t)16 << 20)

enum cfi_entry_kind {
	CFI_ENTRY_CIE,
	CFI_ENTRY_FDE,
	CFI_ENTRY_TERMINATOR,
	CFI_ENTRY_BAD, /* the next one is known */
	CFI_ENTRY_END, /* nothing behind it can be found */
};

struct cfi_entry {
	enum cfi_entry_kind kind;
	uint64_t off; /* in the section */
	uint64_t next;
	uint64_t cie_off;	/* of an FDE */
	struct cfi_cursor body; /* behind the id; to its end, or as far as it was wanted */
};

/* Program and constants of a CIE, free of the section's memory. */
struct cfi_cie {
	uint64_t off;
	bool is_bad;
	bool is_signal;	 /* S */
	bool has_length; /* z: FDEs have augmentation data, and its length */
	uint8_t encoding;
	uint8_t segment_bytes;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_column;
	struct cfi_bases bases;
	struct cfi_state initial; /* behind its program */
	struct unwind_rule initial_rule;
	bool has_initial_rule; /* false: `initial` says more than a rule can */
};

struct cfi_fde {
	uint64_t begin;
	uint64_t n_bytes; /* 0: the linker has dropped the function */
	struct cfi_cursor program;
};

/* At least n_wanted bytes of it are made visible, if it has them. 0 or -errno. */
int cfi_entry_read(const struct cfi_section *section, struct cfi_window *w, uint64_t off,
		   uint64_t n_wanted, struct cfi_entry *ret_entry);
/* One that is not understood is_bad. */
void cfi_cie_parse(const struct cfi_section *section, const struct cfi_entry *entry,
		   struct cfi_cie *ret_cie);
/* Where the FDE is; not its program. False: it is malformed. */
bool cfi_fde_head(const struct cfi_cie *cie, struct cfi_entry *entry, struct cfi_fde *ret_fde);
/* All of it, for an entry of which all is visible. */
bool cfi_fde_parse(const struct cfi_cie *cie, struct cfi_entry *entry, struct cfi_fde *ret_fde);

#endif

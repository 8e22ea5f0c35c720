/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Procedure linkage tables: .plt and its kin, found by section, else through the dynamic section.
 *
 * Sources: psABI for x86-64 §5.2 and its IBT variant, psABI for AArch64, and what GNU ld, gold and
 * lld write.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_PLT_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_PLT_H

#include "agent/object/elf.h"
#include "agent/object/rules/unwind_source.h"

/* .plt, .plt.sec, .plt.got, .iplt, and as many again from odd linkers. */
#define NOCFI_PLT_MAX 8

struct nocfi_plt {
	uint64_t begin;
	uint64_t end;
	uint16_t machine;
	uint8_t first_bytes; /* of the entry that calls the resolver; 0: there is none */
	uint8_t first_push;  /* where in it the push has happened */
	uint8_t entry_bytes;
	uint8_t entry_push; /* where in the others; 0: they do not push */
};

/* The section table must be loaded, if there is one. Their number. */
size_t nocfi_plt_find(struct elf *elf, struct nocfi_plt ret_plts[NOCFI_PLT_MAX]);
/* 0 or what fn returned. */
int nocfi_plt_rows(const struct nocfi_plt *plt, unwind_row_fn fn, void *data);
/* What kind the n bytes at `code` are; false when they are none. Pure. */
bool nocfi_plt_recognise(uint16_t machine, const uint8_t *code, size_t n,
			 struct nocfi_plt *ret_plt);

#endif

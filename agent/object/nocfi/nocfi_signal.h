/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where signal handlers return to: the stubs that call rt_sigreturn, known by their exact bytes.
 *
 * A handler's return address is the stub's begin, and callers are looked up one byte before their
 * return address: the rule holds from that byte on.
 */
#ifndef XAGENT_AGENT_OBJECT_NOCFI_NOCFI_SIGNAL_H
#define XAGENT_AGENT_OBJECT_NOCFI_NOCFI_SIGNAL_H

#include "agent/object/nocfi/nocfi_gaps.h"
#include "agent/object/rules/unwind_source.h"

/* A libc has one; a program with several runtimes a few. */
#define NOCFI_SIGNAL_MAX 8
/* Text that is searched. */
#define NOCFI_SIGNAL_MAX_BYTES ((uint64_t)64 << 20)

/* How many bytes at `code` are such a stub; 0: they are none. Pure. */
uint32_t nocfi_signal_bytes(uint16_t machine, const uint8_t *code, size_t n);
/* Searches the text of `gaps`. Their number in ret_nocfi, each with the byte before it, or
 * -errno. */
int nocfi_signal_find(struct elf *elf, const struct nocfi_ranges *gaps,
		      struct nocfi_range ret_nocfi[NOCFI_SIGNAL_MAX]);
void nocfi_signal_rule(uint16_t machine, struct unwind_rule *ret_rule);

#endif

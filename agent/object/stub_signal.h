/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where signal handlers return to: the stubs that call rt_sigreturn, known by their exact bytes.
 *
 * A handler's return address is the stub's begin, and callers are looked up one byte before their
 * return address: the rule holds from that byte on.
 */
#ifndef XAGENT_AGENT_OBJECT_STUB_SIGNAL_H
#define XAGENT_AGENT_OBJECT_STUB_SIGNAL_H

#include "agent/object/stub_gaps.h"
#include "agent/object/unwind_source.h"

/* A libc has one; a program with several runtimes a few. */
#define STUB_SIGNAL_MAX 8
/* Text that is searched. */
#define STUB_SIGNAL_MAX_BYTES ((uint64_t)64 << 20)

/* How many bytes at `code` are such a stub; 0: they are none. Pure. */
uint32_t stub_signal_bytes(uint16_t machine, const uint8_t *code, size_t n);
/* Searches the text of `gaps`. Their number in ret_stubs, each with the byte before it, or
 * -errno. */
int stub_signal_find(struct elf *elf, const struct stub_ranges *gaps,
		     struct stub_range ret_stubs[STUB_SIGNAL_MAX]);
void stub_signal_rule(uint16_t machine, struct unwind_rule *ret_rule);

#endif

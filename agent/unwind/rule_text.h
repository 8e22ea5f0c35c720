/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule as people read it: `CFA FP RA`, or `none`.
 *
 *	CFA	rsp+16  rbp+16  r10+0  plt  deref(rbp-8)  deref(rsp+56)+8  none
 *	FP	c-16 (saved at CFA − 16)  u (unchanged)  undef  deref(rbp+0)  rbx (kept there)
 *	RA	c-8  rdi (a register)  undef (the outermost frame)  deref(rsp+8)  signal
 *
 * Pure.
 */
#ifndef XAGENT_AGENT_UNWIND_RULE_TEXT_H
#define XAGENT_AGENT_UNWIND_RULE_TEXT_H

#include "agent/object/rules/dwarf_abi.h"
#include "agent/util/buf.h"
#include "bpf/rule.h"

/* Appends. 0 or -ENOBUFS. */
int rule_text(const struct dwarf_abi *abi, const struct unwind_rule *rule, struct buf *out);

#endif

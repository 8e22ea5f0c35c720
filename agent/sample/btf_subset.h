/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a kernel's BTF that relocating one BPF object needs.
 *
 * Wanted is every structure, union, enumeration and typedef of a name that the object has as well, and what lies in it. What a pointer
 * points to is not in it: to relocate a field, only that it is a pointer matters.
 */
#ifndef XAGENT_AGENT_SAMPLE_BTF_SUBSET_H
#define XAGENT_AGENT_SAMPLE_BTF_SUBSET_H

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Appends BTF to `out`, which is empty. Both inputs are raw BTF, aligned to 4 bytes. 0, -ENOENT (no name in common), -EBADMSG,
 * -ENOTSUP, -ENOBUFS (the ceiling of `out`), -ENOMEM. */
int btf_subset(struct str kernel, struct str object, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type information that the kernel and BPF objects carry (Documentation/bpf/btf.rst), as it lies in memory: types by id, names by
 * offset. Pure; of the machine's byte order only.
 */
#ifndef XAGENT_AGENT_SAMPLE_BTF_VIEW_H
#define XAGENT_AGENT_SAMPLE_BTF_VIEW_H

#include <linux/btf.h>
#include <stdint.h>

#include "agent/util/cleanup.h"
#include "agent/util/str.h"

struct btf_view {
	const uint8_t *types; /* borrowed, as the names */
	const char *names;    /* the last byte is NUL */
	uint32_t n_name_bytes;
	uint32_t *places; /* of type i at [i − 1], from `types` on */
	uint32_t n;	  /* types; ids are 1 … n, 0 is void */
};

/* `raw` is borrowed and aligned to 4 bytes. 0, -EBADMSG, -ENOTSUP (a kind of type that is not known here), -ENOMEM. */
int btf_view_init(struct btf_view *v, struct str raw);
void btf_view_fini(struct btf_view *v);
#define _cleanup_btf_view_ _cleanup_(btf_view_fini)

/* NULL: there is none. What follows the type lies within the bytes as well. */
const struct btf_type *btf_view_type(const struct btf_view *v, uint32_t id);
/* NULL: not in the section. "": no name. */
const char *btf_view_name(const struct btf_view *v, uint32_t name_off);
/* Bytes of what follows a type, -ENOTSUP when that is not known. */
int btf_tail_bytes(const struct btf_type *t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the kernel's functions, packed: 128 together by zstd, 7 bytes a name instead of 22.
 *
 * Written once, in the order of addresses; then read by number. Neighbours share their words, and
 * the addresses of an interval lie together: the block that was read last is kept open.
 */
#ifndef XAGENT_AGENT_SYMBOL_KALLSYMS_NAMES_H
#define XAGENT_AGENT_SYMBOL_KALLSYMS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* At 128, names take 7.0 bytes each and 6 to 10 µs to read; 64 saves 2 µs and costs a tenth more. */
#define KALLSYMS_NAMES_BLOCK 128

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

struct kallsyms_names {
	struct buf packed;
	uint32_t *blocks; /* where each begins in `packed` */
	size_t n_blocks;
	size_t cap_blocks;
	size_t n; /* names */
	/* While names are added: those of the block to come. Later: the block that is open. NUL
	 * after each name. */
	struct buf text;
	size_t open_block; /* SIZE_MAX: none */
	struct ZSTD_CCtx_s *packer;
	struct ZSTD_DCtx_s *reader;
};

void kallsyms_names_init(struct kallsyms_names *names);
void kallsyms_names_fini(struct kallsyms_names *names);
/* Its number is names->n before the call. 0, -ENOMEM, -ENOBUFS. */
int kallsyms_names_add(struct kallsyms_names *names, struct str name);
/* No more are added. */
int kallsyms_names_finish(struct kallsyms_names *names);
/* Borrowed until the next call; NULL when memory is out. */
const char *kallsyms_names_get(struct kallsyms_names *names, size_t number);
/* Nothing will be read for a while: what only reading needs is given back. */
void kallsyms_names_rest(struct kallsyms_names *names);
size_t kallsyms_names_bytes(const struct kallsyms_names *names);

#endif

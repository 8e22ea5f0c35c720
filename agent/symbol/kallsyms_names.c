/* SPDX-License-Identifier: Apache-2.0 */
/* The packed names of the kernel's functions. */
#include "agent/symbol/kallsyms_names.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "agent/symbol/kallsyms.h"

/* Higher levels save 4 bytes in 100 and take twice the time. */
#define PACK_LEVEL 3
#define MAX_TEXT_BYTES ((size_t)KALLSYMS_NAMES_BLOCK * KALLSYMS_MAX_LINE_BYTES)

void kallsyms_names_init(struct kallsyms_names *names)
{
	*names = (struct kallsyms_names){ .open_block = SIZE_MAX };
	buf_init(&names->packed, KALLSYMS_MAX_BYTES);
	buf_init(&names->text, MAX_TEXT_BYTES);
}

void kallsyms_names_fini(struct kallsyms_names *names)
{
	kallsyms_names_rest(names);
	buf_fini(&names->packed);
	free(names->blocks);
	(void)ZSTD_freeCCtx(names->packer);
	names->packer = NULL;
	names->blocks = NULL;
}

static int reserve_block(struct kallsyms_names *names)
{
	if (names->n_blocks < names->cap_blocks)
		return 0;
	size_t cap = names->cap_blocks + names->cap_blocks / 2 + 64;
	uint32_t *blocks = reallocarray(names->blocks, cap, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	names->blocks = blocks;
	names->cap_blocks = cap;
	return 0;
}

static int pack_block(struct kallsyms_names *names)
{
	size_t bound = ZSTD_compressBound(names->text.len);
	int r = reserve_block(names);

	if (r < 0)
		return r;
	r = buf_reserve(&names->packed, bound);
	if (r < 0)
		return r;
	if (!names->packer)
		names->packer = ZSTD_createCCtx();
	if (!names->packer)
		return -ENOMEM;
	size_t n = ZSTD_compressCCtx(names->packer, names->packed.data + names->packed.len, bound,
				     names->text.data, names->text.len, PACK_LEVEL);
	if (ZSTD_isError(n))
		return -ENOMEM;
	assert(names->n_blocks < names->cap_blocks && names->packed.len <= UINT32_MAX);
	names->blocks[names->n_blocks++] = (uint32_t)names->packed.len;
	names->packed.len += n;
	buf_reset(&names->text);
	return 0;
}

int kallsyms_names_add(struct kallsyms_names *names, struct str name)
{
	size_t before = names->text.len;
	int r = 0;

	if (names->n > 0 && names->n % KALLSYMS_NAMES_BLOCK == 0 && before > 0)
		r = pack_block(names);
	before = names->text.len;
	if (r == 0)
		r = buf_append(&names->text, name.p, name.n);
	if (r == 0)
		r = buf_append_char(&names->text, '\0');
	if (r < 0) {
		names->text.len = before;
		return r;
	}
	names->n++;
	return 0;
}

/* Nothing more will come: what was reserved is given back. */
static void shrink(struct kallsyms_names *names)
{
	char *packed = realloc(names->packed.data, names->packed.len);
	uint32_t *blocks = reallocarray(names->blocks, names->n_blocks, sizeof(*names->blocks));

	if (packed) {
		names->packed.data = packed;
		names->packed.cap = names->packed.len;
	}
	if (blocks) {
		names->blocks = blocks;
		names->cap_blocks = names->n_blocks;
	}
}

int kallsyms_names_finish(struct kallsyms_names *names)
{
	int r = names->text.len > 0 ? pack_block(names) : 0;

	(void)ZSTD_freeCCtx(names->packer);
	names->packer = NULL;
	if (r == 0 && names->n_blocks > 0)
		shrink(names);
	return r;
}

static bool open_block(struct kallsyms_names *names, size_t block)
{
	assert(block < names->n_blocks);

	size_t at = names->blocks[block];
	size_t end = block + 1 < names->n_blocks ? names->blocks[block + 1] : names->packed.len;
	const char *packed = names->packed.data + at;
	unsigned long long n = ZSTD_getFrameContentSize(packed, end - at);

	names->open_block = SIZE_MAX;
	buf_reset(&names->text);
	if (!names->reader)
		names->reader = ZSTD_createDCtx();
	if (!names->reader || n > MAX_TEXT_BYTES || buf_reserve(&names->text, (size_t)n) < 0)
		return false;
	size_t got =
		ZSTD_decompressDCtx(names->reader, names->text.data, (size_t)n, packed, end - at);
	if (got != n)
		return false;
	names->text.len = got;
	names->open_block = block;
	return true;
}

const char *kallsyms_names_get(struct kallsyms_names *names, size_t number)
{
	size_t block = number / KALLSYMS_NAMES_BLOCK;

	if (number >= names->n || (block != names->open_block && !open_block(names, block)))
		return NULL;
	const char *name = names->text.data;
	const char *end = name + names->text.len;
	for (size_t i = number % KALLSYMS_NAMES_BLOCK; i > 0; i--)
		name = (const char *)memchr(name, '\0', (size_t)(end - name)) + 1;
	return name;
}

void kallsyms_names_rest(struct kallsyms_names *names)
{
	(void)ZSTD_freeDCtx(names->reader);
	names->reader = NULL;
	names->open_block = SIZE_MAX;
	buf_fini(&names->text);
	buf_init(&names->text, MAX_TEXT_BYTES);
}

size_t kallsyms_names_bytes(const struct kallsyms_names *names)
{
	return names->packed.cap + names->cap_blocks * sizeof(*names->blocks) + names->text.cap +
	       (names->reader ? ZSTD_sizeof_DCtx(names->reader) : 0);
}

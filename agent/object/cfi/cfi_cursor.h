/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading foreign bytes from front to end. What would be behind the end is 0, and the cursor has
 * `failed` from then on: read on, look once.
 */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_CURSOR_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 64 bits, 7 at a time. */
#define CFI_LEB_BYTES 10

struct cfi_cursor {
	const uint8_t *at; /* borrowed */
	const uint8_t *end;
	uint64_t bias; /* vaddr of a byte − where it is in our memory */
	bool failed;
};

static inline size_t cfi_left(const struct cfi_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline uint64_t cfi_vaddr(const struct cfi_cursor *c)
{
	return c->bias + (uintptr_t)c->at;
}

static inline void cfi_fail(struct cfi_cursor *c)
{
	c->at = c->end;
	c->failed = true;
}

/* The next n bytes as a cursor of their own; this one goes on behind them. */
static inline struct cfi_cursor cfi_take(struct cfi_cursor *c, uint64_t n)
{
	struct cfi_cursor part = *c;

	if (n > cfi_left(c)) {
		cfi_fail(c);
		return *c;
	}
	c->at += n;
	part.end = c->at;
	return part;
}

static inline void cfi_skip(struct cfi_cursor *c, uint64_t n)
{
	(void)cfi_take(c, n);
}

static inline void cfi_get(struct cfi_cursor *c, void *dst, size_t n)
{
	if (n > cfi_left(c)) {
		memset(dst, 0, n);
		cfi_fail(c);
		return;
	}
	memcpy(dst, c->at, n);
	c->at += n;
}

static inline uint8_t cfi_u8(struct cfi_cursor *c)
{
	uint8_t value;

	cfi_get(c, &value, sizeof(value));
	return value;
}

static inline uint16_t cfi_u16(struct cfi_cursor *c)
{
	uint16_t value;

	cfi_get(c, &value, sizeof(value));
	return value;
}

static inline uint32_t cfi_u32(struct cfi_cursor *c)
{
	uint32_t value;

	cfi_get(c, &value, sizeof(value));
	return value;
}

static inline uint64_t cfi_u64(struct cfi_cursor *c)
{
	uint64_t value;

	cfi_get(c, &value, sizeof(value));
	return value;
}

/* LEB128 (DWARF 5 §7.6); a number that needs more than 64 bits fails. */
uint64_t cfi_uleb_long(struct cfi_cursor *c);
int64_t cfi_sleb(struct cfi_cursor *c);

static inline uint64_t cfi_uleb(struct cfi_cursor *c)
{
	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	return cfi_uleb_long(c);
}

#endif

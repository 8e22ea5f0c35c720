/* SPDX-License-Identifier: Apache-2.0 */
/* Writes jitdumps, by the specification and not by the reader's structures. */
#ifndef XAGENT_TESTS_UNIT_AGENT_SYMBOL_JITDUMP_WRITE_H
#define XAGENT_TESTS_UNIT_AGENT_SYMBOL_JITDUMP_WRITE_H

#include <string.h>

#include "agent/util/buf.h"
#include "tests/support/unit.h"

#define JITDUMP_MAGIC 0x4A695444U

static inline void put_u32(struct buf *b, uint32_t value)
{
	assert_int_equal(buf_append(b, &value, sizeof(value)), 0);
}

static inline void put_u64(struct buf *b, uint64_t value)
{
	assert_int_equal(buf_append(b, &value, sizeof(value)), 0);
}

static inline void put_header(struct buf *b, uint32_t magic, uint32_t version, uint64_t timestamp)
{
	put_u32(b, magic);
	put_u32(b, version);
	put_u32(b, 40);
	put_u32(b, 62);
	put_u32(b, 0);
	put_u32(b, 4711);
	put_u64(b, timestamp);
	put_u64(b, 0);
}

static inline void put_record(struct buf *b, uint32_t id, size_t n_payload)
{
	put_u32(b, id);
	put_u32(b, (uint32_t)(16 + n_payload));
	put_u64(b, 1);
}

/* The code's bytes are 0xcc. */
static inline void put_load(struct buf *b, uint64_t begin, uint64_t n_bytes, uint64_t index,
			    const char *name)
{
	put_record(b, 0, 40 + strlen(name) + 1 + n_bytes);
	put_u32(b, 4711);
	put_u32(b, 4711);
	put_u64(b, begin);
	put_u64(b, begin);
	put_u64(b, n_bytes);
	put_u64(b, index);
	assert_int_equal(buf_append(b, name, strlen(name) + 1), 0);
	for (uint64_t i = 0; i < n_bytes; i++)
		assert_int_equal(buf_append_char(b, (char)0xcc), 0);
}

static inline void put_move(struct buf *b, uint64_t from, uint64_t to, uint64_t n_bytes,
			    uint64_t index)
{
	put_record(b, 1, 48);
	put_u32(b, 4711);
	put_u32(b, 4711);
	put_u64(b, to);
	put_u64(b, from);
	put_u64(b, to);
	put_u64(b, n_bytes);
	put_u64(b, index);
}

/* One line of a source file for the function that comes next. */
static inline void put_debug_info(struct buf *b, uint64_t begin)
{
	put_record(b, 2, 16 + 16 + 5);
	put_u64(b, begin);
	put_u64(b, 1);
	put_u64(b, begin);
	put_u32(b, 12);
	put_u32(b, 0);
	assert_int_equal(buf_append(b, "a.js", 5), 0);
}

static inline void put_close(struct buf *b)
{
	put_record(b, 3, 0);
}

#endif

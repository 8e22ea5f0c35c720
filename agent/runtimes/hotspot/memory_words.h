/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a process's memory. What cannot be read is 0. */
#ifndef XAGENT_AGENT_RUNTIMES_HOTSPOT_MEMORY_WORDS_H
#define XAGENT_AGENT_RUNTIMES_HOTSPOT_MEMORY_WORDS_H

#include "agent/runtimes/runtime.h"

static inline uint64_t memory_u64(const struct runtime_memory *m, uint64_t at)
{
	uint64_t word = 0;

	return m->read(m->data, at, &word, sizeof(word)) < 0 ? 0 : word;
}

static inline uint32_t memory_u32(const struct runtime_memory *m, uint64_t at)
{
	uint32_t word = 0;

	return m->read(m->data, at, &word, sizeof(word)) < 0 ? 0 : word;
}

static inline uint16_t memory_u16(const struct runtime_memory *m, uint64_t at)
{
	uint16_t word = 0;

	return m->read(m->data, at, &word, sizeof(word)) < 0 ? 0 : word;
}

static inline uint8_t memory_u8(const struct runtime_memory *m, uint64_t at)
{
	uint8_t byte = 0;

	return m->read(m->data, at, &byte, sizeof(byte)) < 0 ? 0 : byte;
}

#endif

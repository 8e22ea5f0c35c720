/* SPDX-License-Identifier: Apache-2.0 */
/* One mapping as the walk sees it, on both sides. */
#ifndef XAGENT_AGENT_UNWIND_WIRE_MAPPING_H
#define XAGENT_AGENT_UNWIND_WIRE_MAPPING_H

#include <stdbool.h>

#include "agent/process/mapping.h"
#include "bpf/wire.h"

/* Frames of a file's mapping carry (object id, file offset), all others the raw pc. */
static inline bool wire_mapping_is_named(const struct mapping *m)
{
	uint64_t bytes = m->end - m->begin;

	return m->file && m->file->id <= WIRE_MAX_OBJECT_ID && bytes <= WIRE_FRAME_OFFSET_MASK &&
	       m->file_off <= WIRE_FRAME_OFFSET_MASK - bytes;
}

/* `object`: the slot of the file's unwind table; of no meaning where the mapping is not named. */
static inline struct wire_mapping wire_mapping_from(const struct mapping *m, uint32_t object)
{
	uint64_t n_pages = (m->end - m->begin) / WIRE_PAGE_BYTES;
	bool named = wire_mapping_is_named(m);

	return (struct wire_mapping){
		.begin = m->begin,
		.frame_base =
			named ? ((uint64_t)m->file->id << WIRE_FRAME_OFFSET_BITS) + m->file_off
			      : WIRE_FRAME_RAW | m->begin,
		.n_pages = n_pages > UINT32_MAX ? UINT32_MAX : (uint32_t)n_pages,
		.object = named ? object : WIRE_OBJECT_FP,
	};
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* One mapping as the walk sees it, on both sides. */
#ifndef XAGENT_AGENT_UNWIND_WIRE_MAPPING_H
#define XAGENT_AGENT_UNWIND_WIRE_MAPPING_H

#include "agent/process/mapping.h"
#include "bpf/wire.h"

/* Frames of a file's mapping carry (object id, file offset), all others the raw pc. */
static inline struct wire_mapping wire_mapping_from(const struct mapping *m)
{
	uint64_t bytes = m->end - m->begin;
	bool named = m->file && m->file->id <= WIRE_MAX_OBJECT_ID &&
		     bytes <= WIRE_FRAME_OFFSET_MASK &&
		     m->file_off <= WIRE_FRAME_OFFSET_MASK - bytes;

	return (struct wire_mapping){
		.begin = m->begin,
		.end = m->end,
		.frame_base =
			named ? ((uint64_t)m->file->id << WIRE_FRAME_OFFSET_BITS) + m->file_off
			      : WIRE_FRAME_RAW | m->begin,
	};
}

#endif

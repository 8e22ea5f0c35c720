/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a spool writes: records one behind the other, behind the head of their segment. Pure; numbers are little-endian.
 *
 *	segment: 8 bytes magic and version, 8 bytes id, records
 *	record:	 SPOOL_HEAD_BYTES of head, a zstd frame with checksum
 *	frame:	 labels, pprof
 *
 * The head has a checksum over itself and the id of the segment, so a record is accepted only where it was written. Only its byte of
 * state changes later, and is not in the checksum: a crash leaves it old or new.
 */
#ifndef XAGENT_AGENT_PUSH_SPOOL_SPOOL_RECORD_H
#define XAGENT_AGENT_PUSH_SPOOL_SPOOL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/push/profile.h"

#define SPOOL_SEGMENT_HEAD_BYTES 16
#define SPOOL_HEAD_BYTES 48
/* Where the byte of state is. */
#define SPOOL_STATE_AT 4
#define SPOOL_WAITS 'w'
#define SPOOL_DONE 'd'

/* Unpacked: a profile, and 30 labels of 3 KiB. */
#define SPOOL_MAX_PLAIN_BYTES (PUSH_MAX_PROFILE_BYTES + ((size_t)128 << 10))
/* Packed, whatever zstd makes of that. */
#define SPOOL_MAX_FRAME_BYTES (SPOOL_MAX_PLAIN_BYTES + ((size_t)128 << 10))

enum spool_head_kind {
	SPOOL_HEAD_OURS,
	SPOOL_HEAD_NEWER,   /* of a later version */
	SPOOL_HEAD_DAMAGED, /* or somebody else's */
};

void spool_segment_head(uint64_t id, uint8_t head[static SPOOL_SEGMENT_HEAD_BYTES]);
/* At least that many bytes. */
enum spool_head_kind spool_segment_head_judge(const uint8_t *head, uint64_t id);

struct spool_record {
	bool done;
	uint32_t n_frame;	  /* bytes behind the head */
	uint32_t n_profile_bytes; /* of the pprof */
	uint32_t number;	  /* in its segment, from 1 on: grows */
	uint64_t deadline_ns;
	uint64_t n_samples;
};

/* Head and frame; what the caller frees. 0 or -ENOMEM. */
int spool_record_encode(const struct push_profile *profile, uint64_t deadline_ns, uint64_t segment,
			uint32_t number, uint8_t **ret_bytes, size_t *ret_n);
/* Of SPOOL_HEAD_BYTES bytes; false: no record of this segment begins here. */
bool spool_record_head(const uint8_t *bytes, uint64_t segment, struct spool_record *ret_record);
/* The profile in a frame, its numbers from `record`. 0, -EBADMSG or -ENOMEM. */
int spool_record_decode(const struct spool_record *record, const uint8_t *frame,
			struct push_profile **ret_profile);

#endif

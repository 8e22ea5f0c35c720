/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as one zstd frame with its size and checksum. Pure. */
#ifndef XAGENT_AGENT_UTIL_ZSTD_FRAME_H
#define XAGENT_AGENT_UTIL_ZSTD_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* What the caller frees. 0 or -ENOMEM. */
int zstd_frame_pack(const uint8_t *data, size_t n, int level, uint8_t **ret_frame, size_t *ret_n);

/* Exactly one frame, of 1 to max_bytes; what the caller frees. 0; -EBADMSG: cut, changed, too large, or
 * no frame; -ENOMEM. */
int zstd_frame_unpack(const uint8_t *frame, size_t n_frame, size_t max_bytes, uint8_t **ret_data,
		      size_t *ret_n);

#endif

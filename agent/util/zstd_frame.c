/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as one zstd frame. */
#include "agent/util/zstd_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "agent/util/cleanup.h"

static void free_context(ZSTD_CCtx **context)
{
	(void)ZSTD_freeCCtx(*context);
}

int zstd_frame_pack(const uint8_t *data, size_t n, int level, uint8_t **ret_frame, size_t *ret_n)
{
	_cleanup_(free_context) ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n);
	_cleanup_free_ uint8_t *frame = malloc(room);

	if (!context || !frame)
		return -ENOMEM;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))
		return -ENOMEM;
	size_t n_frame = ZSTD_compress2(context, frame, room, data, n);
	if (ZSTD_isError(n_frame))
		return -ENOMEM;
	*ret_frame = TAKE_PTR(frame);
	*ret_n = n_frame;
	return 0;
}

int zstd_frame_unpack(const uint8_t *frame, size_t n_frame, size_t max_bytes, uint8_t **ret_data,
		      size_t *ret_n)
{
	unsigned long long n = ZSTD_getFrameContentSize(frame, n_frame);

	if (n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR || n == 0 || n > max_bytes)
		return -EBADMSG;
	size_t n_found = ZSTD_findFrameCompressedSize(frame, n_frame);
	if (ZSTD_isError(n_found) || n_found != n_frame)
		return -EBADMSG;
	_cleanup_free_ uint8_t *data = malloc(n);
	if (!data)
		return -ENOMEM;
	if (ZSTD_decompress(data, n, frame, n_frame) != n)
		return -EBADMSG;
	*ret_data = TAKE_PTR(data);
	*ret_n = n;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Block I/O: what is asked of disks, and when that is done. */
#include "agent/sample/programs.h"

static const struct programs block_io = {
	.ops = &source_block_io,
	.source = EVENT_SOURCE_BLOCK_IO,
	.map = "ios",
	.is_thinned = true,
	/* The ends first: what is told the begin of has one. */
	.items = { { "block_io_end_request", "block_rq_complete" },
		   { "block_io_end_bio", "block_bio_complete" },
		   { "block_io_begin", "block_bio_queue" } },
};

static int block_io_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
			struct source **ret_source)
{
	return programs_new(&block_io, bpf, o, why, ret_source);
}

const struct source_ops source_block_io = {
	.event = EVENT_BLOCK_IO,
	.new = block_io_new,
	.attach = programs_attach,
	.limit_hz = programs_limit_hz,
	.detach = programs_detach,
	.free = programs_free,
};

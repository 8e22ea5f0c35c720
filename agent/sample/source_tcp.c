/* SPDX-License-Identifier: Apache-2.0 */
/* TCP: connections that are made and accepted, segments that are sent again; on all CPUs. */
#include "agent/sample/programs.h"

static const struct programs tcp = {
	.ops = &source_tcp,
	.source = EVENT_SOURCE_TCP,
	.is_thinned = true,
	.items = { { "tcp_call", "sys_exit" }, { "tcp_retransmit", "tcp_retransmit_skb" } },
};

static int tcp_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
		   struct source **ret_source)
{
	return programs_new(&tcp, bpf, o, why, ret_source);
}

const struct source_ops source_tcp = {
	.event = EVENT_TCP,
	.new = tcp_new,
	.attach = programs_attach,
	.limit_hz = programs_limit_hz,
	.detach = programs_detach,
	.free = programs_free,
};

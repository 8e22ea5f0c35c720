/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of resident memory: each change of the counters of all processes. */
#include <unistd.h>

#include "agent/sample/programs.h"
#include "bpf/sample.skel.h"

static const struct programs rss = {
	.ops = &source_rss,
	.source = EVENT_SOURCE_RSS,
	.map = "rss_seen",
	.items = { { "rss_change", "rss_stat" } },
};

static int rss_new(struct sample_bpf *bpf, const struct sampler_options *o, struct buf *why,
		   struct source **ret_source)
{
	bpf->rodata->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	return programs_new(&rss, bpf, o, why, ret_source);
}

const struct source_ops source_rss = {
	.event = EVENT_RSS,
	.new = rss_new,
	.attach = programs_attach,
	.limit_hz = programs_limit_hz,
	.detach = programs_detach,
	.free = programs_free,
};

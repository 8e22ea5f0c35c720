/* SPDX-License-Identifier: Apache-2.0 */
/* Every source of events. */
#include <stddef.h>

#include "agent/sample/source.h"

const struct source_ops *const source_list[] = {
	&source_cpu,
	&source_tracepoint,
	&source_off_cpu,
	&source_locks,
	&source_faults,
	&source_run_queue,
	&source_syscalls,
	&source_tcp,
	&source_block_io,
	&source_rss,
	NULL,
};

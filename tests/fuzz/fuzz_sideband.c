/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as one record of the perf side-band. */
#include <assert.h>
#include <string.h>

#include "agent/process/sideband_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *end = (const char *)data + size;
	struct process_event ev;
	uint32_t tid;

	enum sideband_outcome outcome = sideband_decode(data, size, &ev, &tid);
	if (outcome == SIDEBAND_SKIPPED || outcome == SIDEBAND_MALFORMED)
		return 0;
	assert(memchr(ev.comm, '\0', sizeof(ev.comm)));
	assert(ev.pid != 0 || ev.kind == PROCESS_EVENT_LOST);
	assert((ev.kind == PROCESS_EVENT_MMAP) == (ev.path != NULL));
	assert(!ev.path || memchr(ev.path, '\0', (size_t)(end - ev.path)));
	assert(ev.begin + ev.len >= ev.begin);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as one record of the perf side-band. */
#include <assert.h>
#include <string.h>

#include "agent/process/sideband_decode.h"

static void fuzz_kernel_text(const uint8_t *data, size_t size)
{
	const char *end = (const char *)data + size;
	struct kernel_text_change change;
	struct kernel_text text;
	const char *name;

	if (!sideband_decode_kernel_text(data, size, &change, &name))
		return;
	assert(memchr(name, '\0', (size_t)(end - name)));
	assert(change.begin + change.n_bytes >= change.begin);
	kernel_text_init(&text);
	kernel_text_add(&text, &change, name);
	for (const char *p = kernel_text_name(&text, &text.items[0]); *p; p++)
		assert(*p > ' ' && *p <= '~');
	kernel_text_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *end = (const char *)data + size;
	struct process_event ev;
	uint32_t tid;

	enum sideband_outcome outcome = sideband_decode(data, size, &ev, &tid);
	if (outcome == SIDEBAND_KERNEL_TEXT)
		fuzz_kernel_text(data, size);
	if (outcome == SIDEBAND_SKIPPED || outcome == SIDEBAND_MALFORMED ||
	    outcome == SIDEBAND_KERNEL_TEXT)
		return 0;
	assert(memchr(ev.comm, '\0', sizeof(ev.comm)));
	assert(ev.pid != 0 || ev.kind == PROCESS_EVENT_LOST);
	assert((ev.kind == PROCESS_EVENT_MMAP) == (ev.path != NULL));
	assert(!ev.path || memchr(ev.path, '\0', (size_t)(end - ev.path)));
	assert(ev.begin + ev.len >= ev.begin);
	return 0;
}

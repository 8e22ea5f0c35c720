/* SPDX-License-Identifier: Apache-2.0 */
/* Retry-After: what is understood is a wait below the ceiling, the same for the same text. */
#include <assert.h>
#include <stdint.h>

#include "agent/http/retry_after.h"
#include "agent/util/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t now_ns = 784111777ULL * NS_PER_S;
	struct str text = { (const char *)data, size };
	uint64_t wait_ns = 0, again_ns = 1;

	if (!retry_after_parse(text, now_ns, &wait_ns))
		return 0;
	assert(wait_ns <= RETRY_AFTER_MAX_S * NS_PER_S && wait_ns % NS_PER_S == 0);
	assert(retry_after_parse(text, now_ns, &again_ns) && again_ns == wait_ns);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* CPU lists: what is accepted is ascending and unique, and written as a list it is the same set again. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/util/buf.h"
#include "agent/util/cpus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)64 * 1024);
	_cleanup_cpus_ struct cpus c = { 0 };
	_cleanup_cpus_ struct cpus again = { 0 };

	if (cpus_parse((struct str){ (const char *)data, size }, &c) < 0)
		return 0;
	for (size_t i = 0; i < c.n; i++) {
		assert(c.ids[i] < CPUS_MAX && (i == 0 || c.ids[i] > c.ids[i - 1]));
		assert(buf_printf(&text, "%s%u", i > 0 ? "," : "", c.ids[i]) == 0);
	}
	assert(cpus_parse((struct str){ buf_str(&text), text.len }, &again) == 0);
	assert(again.n == c.n && memcmp(again.ids, c.ids, c.n * sizeof(*c.ids)) == 0);
	return 0;
}

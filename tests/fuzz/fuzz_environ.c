/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as /proc/PID/environ. */
#include <assert.h>
#include <stdint.h>

#include "agent/process/environ.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	size_t n = strnlen(text, ENVIRON_TEXT_MAX);

	assert(n < ENVIRON_TEXT_MAX && str_is_utf8((struct str){ text, n }));
	for (size_t i = 0; i < n; i++)
		assert((unsigned char)text[i] >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct environ_texts t;

	environ_parse((struct str){ (const char *)data, size }, &t);
#define CHECK(member) check_text(t.member);
	ENVIRON_FACTS(CHECK)
#undef CHECK
	return 0;
}

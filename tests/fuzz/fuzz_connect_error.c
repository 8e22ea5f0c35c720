/* SPDX-License-Identifier: Apache-2.0 */
/* Error bodies of the push: whatever a server or a proxy sends, the reason is short, printable
 * UTF-8. */
#include <assert.h>
#include <stdint.h>

#include "agent/push/connect_error.h"
#include "agent/push/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t max)
{
	struct str s = str_from(text);

	assert(s.n < max && str_is_utf8(s));
	for (size_t i = 0; i < s.n; i++)
		assert((unsigned char)s.p[i] >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = size > 0 ? (const char *)data : "";
	static const char *const types[] = { "application/json", "text/plain" };
	struct connect_error error;
	struct push_reason reason;

	if (connect_error_parse((struct str){ text, size }, &error)) {
		assert(error.code < CONNECT_CODE_MAX);
		check_text(error.message, sizeof(error.message));
	}
	for (int i = 0; i < 2; i++) {
		const struct http_result result = { .outcome = HTTP_DONE,
						    .status = 400,
						    .content_type = types[i],
						    .retry_after = "",
						    .body = text,
						    .n_body = size,
						    .error = "" };

		assert(push_judge(&result, true, &reason) == PUSH_DROP);
		check_text(reason.text, sizeof(reason.text));
	}
	return 0;
}

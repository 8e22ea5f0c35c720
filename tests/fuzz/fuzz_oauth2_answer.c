/* SPDX-License-Identifier: Apache-2.0 */
/* A token server's answer: what is taken from it is a type, a blank and a token, and a time that cannot overflow. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/http/oauth2_form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf authorization = BUF_INIT(OAUTH2_MAX_TOKEN_BYTES);
	uint64_t expires_s = 0;

	if (!oauth2_answer_read((const char *)data, size, &authorization, &expires_s))
		return 0;
	const char *blank = strrchr(buf_str(&authorization), ' ');
	assert(blank && authorization.len > 2);
	assert(expires_s <= UINT64_MAX / 1000000000 / 2);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* URL parser: what is accepted has views inside the input, and the joined URL is accepted again
 * with the same host and port. */
#include <assert.h>
#include <stdint.h>

#include "agent/http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf joined = BUF_INIT(2 * URL_MAX_BYTES);
	struct str text = { (const char *)data, size };
	struct url url, again;

	if (url_parse(text, &url) != URL_OK)
		return 0;
	assert(url.host.n > 0 && url.port > 0);
	assert(url.base.n + url.path.n <= size);
	assert(url_join(&joined, &url, "/p") == 0);
	if (joined.len > URL_MAX_BYTES)
		return 0;
	assert(url_parse((struct str){ joined.data, joined.len }, &again) == URL_OK);
	assert(str_eq(url.host, again.host) && url.port == again.port);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization headers: only the one pair of name and password is let in, and it is base64 of these bytes. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/http/access.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct http_access options = { .username = "u", .password = "p" };
	char *header = strndup((const char *)data, size);
	struct access access;

	if (!header || access_init(&access, &options) < 0) {
		free(header);
		return 0;
	}
	/* "dTpw" is "u:p"; blanks and line breaks are the decoder's to judge. */
	if (access_allows(&access, "/", header))
		assert(strncasecmp(header, "Basic ", 6) == 0 && strpbrk(header, "d") &&
		       strpbrk(header, "T") && strpbrk(header, "p") && strpbrk(header, "w"));
	access_fini(&access);
	free(header);
	return 0;
}

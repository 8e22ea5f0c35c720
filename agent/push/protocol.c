/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same in all protocols. */
#include "agent/push/protocol.h"

#include <strings.h>

#include "agent/util/macro.h"

/* Of HTTP, whatever the protocol. */
static const char *const http_headers[] = {
	"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length",	  "Content-Type",
	"Expect",	   "TE",	 "Trailer",	     "Transfer-Encoding", "Upgrade",
	"User-Agent",
};

bool push_header_is_ours(const struct push_protocol *protocol, const char *name)
{
	struct push_headers own;

	for (size_t i = 0; i < ARRAY_SIZE(http_headers); i++)
		if (strcasecmp(http_headers[i], name) == 0)
			return true;
	protocol->headers(0, &own);
	for (size_t i = 0; i < own.n; i++)
		if (strcasecmp(own.items[i].name, name) == 0)
			return true;
	return false;
}

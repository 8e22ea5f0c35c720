/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses as header fields. */
#include "agent/http/grpc/grpc_status.h"

#include <errno.h>
#include <gnutls/gnutls.h>

int grpc_status_put_message(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		bool plain = c >= 0x20 && c < 0x7f && c != '%';
		int r = plain ? buf_append_char(out, (char)c) : buf_printf(out, "%%%02X", c);

		if (r < 0)
			return r;
	}
	return 0;
}

int grpc_status_put_binary(struct buf *out, const void *bytes, size_t n)
{
	const gnutls_datum_t in = { (unsigned char *)bytes, (unsigned int)n };
	gnutls_datum_t text;

	if (gnutls_base64_encode2(&in, &text) < 0)
		return -ENOMEM;
	int r = buf_append(out, text.data, text.size);
	gnutls_free(text.data);
	return r;
}

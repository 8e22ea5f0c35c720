/* SPDX-License-Identifier: Apache-2.0 */
/* Output in larger pieces. */
#include "river-config/out.h"

#include <stdio.h>
#include <string.h>

#include "river-config/unicode.h"

void river_out_flush(struct river_out *out)
{
	if (out->len)
		out->write(out->ctx, out->data, out->len);
	out->len = 0;
}

void river_out_append(struct river_out *out, const char *bytes, size_t n)
{
	if (n > sizeof(out->data) - out->len)
		river_out_flush(out);
	if (n > sizeof(out->data)) {
		out->write(out->ctx, bytes, n);
		return;
	}
	if (n)
		memcpy(out->data + out->len, bytes, n);
	out->len += n;
}

void river_out_str(struct river_out *out, const char *s)
{
	river_out_append(out, s, strlen(s));
}

void river_out_repeat(struct river_out *out, char c, size_t n)
{
	while (n-- > 0)
		river_out_append(out, &c, 1);
}

void river_out_rune(struct river_out *out, uint32_t c)
{
	char buf[RIVER_UTF8_MAX];

	river_out_append(out, buf, river_utf8_encode(c, buf));
}

void river_out_number(struct river_out *out, uint64_t number, unsigned int width)
{
	char text[32];

	snprintf(text, sizeof(text), "%*llu", (int)width, (unsigned long long)number);
	river_out_str(out, text);
}

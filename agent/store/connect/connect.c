/* SPDX-License-Identifier: Apache-2.0 */
/* The Connect protocol, unary, of a server. */
#include "agent/store/connect/connect.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "agent/store/connect/json_text.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Of the Connect specification. */
#define TIMEOUT_MAX_DIGITS 10
/* 15 bits of window, and 16 more that ask zlib for gzip alone. */
#define GZIP_WINDOW_BITS (15 + 16)
#define INFLATE_STEP_BYTES 16384

static const struct {
	const char *name;
	unsigned int status;
} codes[] = { [RPC_ok] = { "ok", 200 },
#define RPC_CODE_ROW(name, status) [RPC_##name] = { #name, status },
	      RPC_CODES(RPC_CODE_ROW) };

unsigned int rpc_code_status(enum rpc_code code)
{
	assert(code < RPC_CODE_MAX);
	return codes[code].status;
}

const char *rpc_code_name(enum rpc_code code)
{
	assert(code < RPC_CODE_MAX);
	return codes[code].name;
}

int connect_put_error(struct buf *out, enum rpc_code code, const char *message)
{
	(void)buf_printf(out, "{\"code\":\"%s\"", rpc_code_name(code));
	if (*message) {
		(void)buf_append_str(out, ",\"message\":");
		(void)json_put_text(out, str_from(message));
	}
	return buf_append_char(out, '}');
}

static bool is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/* media-type [ ";" "charset=utf-8" ] */
bool connect_parse_codec(const char *content_type, enum connect_codec *ret_codec)
{
	struct str rest = str_from(content_type), type, parameter;
	bool charset = false;

	if (!str_split(&rest, ';', &type))
		return false;
	while (str_split(&rest, ';', &parameter)) {
		if (!is_word(str_trim(parameter), "charset=utf-8") &&
		    !is_word(str_trim(parameter), "charset=\"utf-8\""))
			return false;
		charset = true;
	}
	if (is_word(str_trim(type), "application/json")) {
		*ret_codec = charset ? CONNECT_JSON_UTF8 : CONNECT_JSON;
		return true;
	}
	if (charset || !is_word(str_trim(type), "application/proto"))
		return false;
	*ret_codec = CONNECT_PROTO;
	return true;
}

const char *connect_content_type(enum connect_codec codec)
{
	static const char *const names[] = {
		[CONNECT_PROTO] = "application/proto",
		[CONNECT_JSON] = "application/json",
		[CONNECT_JSON_UTF8] = "application/json; charset=utf-8",
	};

	assert((size_t)codec < ARRAY_SIZE(names));
	return names[codec];
}

bool connect_parse_timeout(const char *text, struct buf *why, uint64_t *ret_ms)
{
	uint64_t ms = UINT64_MAX;

	if (text && strlen(text) > TIMEOUT_MAX_DIGITS) {
		(void)buf_printf(why, "parse timeout: more than %d digits", TIMEOUT_MAX_DIGITS);
		return false;
	}
	if (text && str_parse_u64(str_from(text), 10, UINT64_MAX, &ms) < 0) {
		(void)buf_printf(why, "parse timeout: \"%s\" is not a number", text);
		return false;
	}
	*ret_ms = ms;
	return true;
}

enum connect_encoding connect_parse_encoding(const char *content_encoding)
{
	struct str s = str_trim(str_from(content_encoding));

	if (s.n == 0 || is_word(s, "identity"))
		return CONNECT_IDENTITY;
	return is_word(s, "gzip") ? CONNECT_GZIP : CONNECT_ENCODING_UNKNOWN;
}

/* One piece. Z_OK, Z_STREAM_END, or something else. */
static int inflate_step(z_stream *z, struct buf *out)
{
	Bytef piece[INFLATE_STEP_BYTES];

	z->next_out = piece;
	z->avail_out = sizeof(piece);
	int status = inflate(z, Z_NO_FLUSH);
	if (status != Z_OK && status != Z_STREAM_END)
		return status;
	return buf_append(out, piece, sizeof(piece) - z->avail_out) < 0 ? Z_MEM_ERROR : status;
}

static int inflate_all(z_stream *z, struct buf *out)
{
	int status = Z_OK;

	while (status == Z_OK)
		status = inflate_step(z, out);
	if (status == Z_STREAM_END)
		return z->avail_in == 0 ? CONNECT_INFLATED : CONNECT_INFLATE_BROKEN;
	if (out->failed && out->len + INFLATE_STEP_BYTES >= out->max_bytes)
		return CONNECT_INFLATE_TOO_LARGE;
	return status == Z_MEM_ERROR ? -ENOMEM : CONNECT_INFLATE_BROKEN;
}

int connect_inflate(const void *bytes, size_t n, struct buf *out)
{
	z_stream z = { .next_in = (Bytef *)bytes, .avail_in = (uInt)n };

	if (n > UINT32_MAX)
		return CONNECT_INFLATE_TOO_LARGE;
	if (inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK)
		return -ENOMEM;
	int r = inflate_all(&z, out);
	(void)inflateEnd(&z);
	return r;
}

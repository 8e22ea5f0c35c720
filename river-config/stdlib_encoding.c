/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding.* family: JSON, YAML, base64 and what stands in the query of a URL. */
#include <errno.h>
#include <string.h>

#include "river-config/base64.h"
#include "river-config/convert.h"
#include "river-config/json.h"
#include "river-config/stdlib.h"
#include "river-config/yaml.h"

struct source {
	const char *s;
	size_t n;
};

static int return_text(struct river_call *c, struct river_text *t)
{
	c->result = river_value_wrap_text(c->err->arena, river_text_take(t), t->len);
	return RIVER_OK;
}

static int text_arg(struct river_call *c, struct source *ret)
{
	return river_to_text(c->args[0], c->err, &ret->s, &ret->n);
}

static int call_from_json(struct river_call *c)
{
	const char *problem;
	struct source text;
	int r = text_arg(c, &text);

	if (r != RIVER_OK)
		return r;
	r = river_json_read(text.s, text.n, RIVER_JSON_FLOATS, c->err->arena, &c->result, &problem);
	return r == RIVER_INVALID ? river_call_error(c, "%s", problem) : r;
}

static int call_from_yaml(struct river_call *c)
{
	const char *problem;
	struct source text;
	int r = text_arg(c, &text);

	if (r != RIVER_OK)
		return r;
	r = river_yaml_read(text.s, text.n, c->err->arena, &c->result, &problem);
	return r == RIVER_INVALID ? river_call_error(c, "%s", problem) : r;
}

static int call_to_json(struct river_call *c)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	const char *problem;
	int r = river_check_open(c->args[0], c->err);

	if (r != RIVER_OK)
		return r;
	if (c->args[0]->type != RIVER_TYPE_OBJECT)
		return river_call_error(c, "jsonEncode only supports map");
	problem = river_json_write(&t, c->args[0]);
	return problem ? river_call_error(c, "%s", problem) : return_text(c, &t);
}

static int from_base64(struct river_call *c, enum river_base64 kind)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	struct source text;
	size_t bad;
	int r = text_arg(c, &text);

	if (r != RIVER_OK)
		return r;
	if (!river_base64_decode(&t, text.s, text.n, kind, &bad))
		return river_call_error(c, "illegal base64 data at input byte %zu", bad);
	return return_text(c, &t);
}

static int to_base64(struct river_call *c, enum river_base64 kind)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	struct source text;
	int r = text_arg(c, &text);

	if (r != RIVER_OK)
		return r;
	river_base64_encode(&t, text.s, text.n, kind);
	return return_text(c, &t);
}

static int call_from_base64(struct river_call *c)
{
	return from_base64(c, RIVER_BASE64_STANDARD);
}

static int call_from_url_base64(struct river_call *c)
{
	return from_base64(c, RIVER_BASE64_URL);
}

static int call_to_base64(struct river_call *c)
{
	return to_base64(c, RIVER_BASE64_STANDARD);
}

static int call_to_url_base64(struct river_call *c)
{
	return to_base64(c, RIVER_BASE64_URL);
}

/* What RFC 3986 calls unreserved. */
static bool stays(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.' || c == '~';
}

static int call_url_encode(struct river_call *c)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	struct source text;
	int r = text_arg(c, &text);

	if (r != RIVER_OK)
		return r;
	for (size_t i = 0; i < text.n; i++) {
		if (stays(text.s[i]))
			river_text_char(&t, text.s[i]);
		else if (text.s[i] == ' ')
			river_text_char(&t, '+');
		else
			river_text_printf(&t, "%%%02X", (unsigned char)text.s[i]);
	}
	return return_text(c, &t);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int bad_escape(struct river_call *c, const char *s, size_t n)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	const char *quoted;

	river_text_quote(&t, s, n < 3 ? n : 3);
	quoted = river_text_take(&t);
	return quoted ? river_call_error(c, "invalid URL escape %s", quoted) : -ENOMEM;
}

static int call_url_decode(struct river_call *c)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	struct source text;
	int r = text_arg(c, &text);

	for (size_t i = 0; r == RIVER_OK && i < text.n; i++) {
		char byte = text.s[i] == '+' ? ' ' : text.s[i];

		if (byte == '%') {
			if (text.n - i < 3 || hex_value(text.s[i + 1]) < 0 ||
			    hex_value(text.s[i + 2]) < 0)
				return bad_escape(c, text.s + i, text.n - i);
			byte = (char)(hex_value(text.s[i + 1]) << 4 | hex_value(text.s[i + 2]));
			i += 2;
		}
		river_text_char(&t, byte);
	}
	return r == RIVER_OK ? return_text(c, &t) : r;
}

static const struct river_function rows[] = {
	RIVER_FUNCTION_AND_OLD("encoding.from_json", "json_decode", call_from_json, 1),
	RIVER_FUNCTION_AND_OLD("encoding.from_yaml", "yaml_decode", call_from_yaml, 1),
	RIVER_FUNCTION_AND_OLD("encoding.from_base64", "base64_decode", call_from_base64, 1),
	{ "encoding.from_URLbase64", call_from_url_base64, .n_args = 1 },
	{ "encoding.to_json", call_to_json, .n_args = 1 },
	{ "encoding.to_base64", call_to_base64, .n_args = 1 },
	{ "encoding.to_URLbase64", call_to_url_base64, .n_args = 1 },
	{ "encoding.url_encode", call_url_encode, .n_args = 1 },
	{ "encoding.url_decode", call_url_decode, .n_args = 1 },
};

const struct river_family river_stdlib_encoding = RIVER_FAMILY(rows);

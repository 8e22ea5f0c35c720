/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Literals as values. The scanner has checked their form; what it refused is refused here again,
 * never trusted.
 */
#include "river-config/literal.h"

#include <errno.h>
#include <string.h>

#include "river-config/number.h"
#include "river-config/unicode.h"

static bool hex_value(char c, uint32_t *ret)
{
	if (c >= '0' && c <= '9')
		*ret = (uint32_t)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*ret = (uint32_t)(c - 'a') + 10;
	else if (c >= 'A' && c <= 'F')
		*ret = (uint32_t)(c - 'A') + 10;
	else
		return false;
	return true;
}

static bool digits_value(const char *s, size_t n, size_t want, unsigned int shift, uint32_t *ret)
{
	uint32_t value = 0, digit;

	if (n < want)
		return false;
	for (size_t i = 0; i < want; i++) {
		if (!hex_value(s[i], &digit) || digit >> shift)
			return false;
		value = value << shift | digit;
	}
	*ret = value;
	return true;
}

/*
 * \xNN and \NNN are bytes, \u and \U are characters. Returns the bytes read behind the backslash, 0
 * for nonsense.
 */
static size_t unescape_code(const char *s, size_t n, char *out, size_t *ret_written)
{
	size_t want = s[0] == 'x' ? 2 : s[0] == 'u' ? 4 : s[0] == 'U' ? 8 : 3;
	size_t skip = want == 3 ? 0 : 1;
	uint32_t value;

	if (!digits_value(s + skip, n - skip, want, want == 3 ? 3 : 4, &value))
		return 0;
	if (want <= 3 && value <= 255) {
		out[0] = (char)value;
		*ret_written = 1;
	} else if (want > 3 && value <= 0x10ffff && !(value >= 0xd800 && value < 0xe000)) {
		*ret_written = river_utf8_encode(value, out);
	} else {
		return 0;
	}
	return skip + want;
}

static size_t unescape(const char *s, size_t n, char *out, size_t *ret_written)
{
	static const char letters[] = "abtnvfr\\\"", bytes[] = "\a\b\t\n\v\f\r\\\"";
	const char *found;

	if (n == 0 || s[0] == '\0')
		return 0;
	found = strchr(letters, s[0]);
	if (!found)
		return unescape_code(s, n, out, ret_written);
	out[0] = bytes[found - letters];
	*ret_written = 1;
	return 1;
}

static char *unquote_raw(struct river_arena *a, const char *text, size_t len, size_t *ret_len)
{
	char *out = river_arena_alloc(a, len);
	size_t n = 0;

	for (size_t i = 1; out && i + 1 < len; i++)
		if (text[i] != '\r')
			out[n++] = text[i];
	*ret_len = n;
	return out;
}

/*
 * No escape is longer than its spelling, so `len` bytes are enough; the quotes leave room for the
 * NUL.
 */
char *river_unquote(struct river_arena *a, const char *text, size_t len, size_t *ret_len)
{
	size_t n = 0, written, step;
	char *out;

	if (len < 2 || text[0] != text[len - 1])
		return NULL;
	if (text[0] == '`')
		return unquote_raw(a, text, len, ret_len);
	out = river_arena_alloc(a, len + RIVER_UTF8_MAX);
	for (size_t i = 1; out && i + 1 < len; i += step) {
		step = written = 1;
		out[n] = text[i];
		if (text[i] == '\\') {
			step = 1 + unescape(text + i + 1, len - i - 2, out + n, &written);
			if (step == 1)
				return NULL;
		}
		n += written;
	}
	*ret_len = n;
	return out;
}

static int float_value(const struct river_expr *e, struct river_error *err,
		       struct river_value **ret_value)
{
	double f;

	if (!river_parse_float(e->literal.text, e->literal.len, &f))
		return river_error_set_at(err, &e->range,
					  "strconv.ParseFloat: parsing \"%s\": value out of range",
					  e->literal.text);
	*ret_value = (struct river_value *)river_value_float(err->arena, f);
	return RIVER_OK;
}

/* A leading 0 means octal; what is no octal number is then read as a float, as in the reference. */
static int number_value(const struct river_expr *e, struct river_error *err,
			struct river_value **ret_value)
{
	int64_t i;
	uint64_t u;

	if (river_parse_int(e->literal.text, e->literal.len, 0, &i))
		*ret_value = (struct river_value *)river_value_int(err->arena, i);
	else if (river_parse_uint(e->literal.text, e->literal.len, 0, &u))
		*ret_value = (struct river_value *)river_value_uint(err->arena, u);
	else
		return float_value(e, err, ret_value);
	return RIVER_OK;
}

static int string_value(const struct river_expr *e, struct river_error *err,
			struct river_value **ret_value)
{
	size_t len;
	char *text = river_unquote(err->arena, e->literal.text, e->literal.len, &len);

	if (!text)
		return river_error_set_at(err, &e->range, "invalid syntax");
	*ret_value = river_value_wrap_text(err->arena, text, len);
	return RIVER_OK;
}

int river_literal_value(const struct river_expr *e, struct river_error *err,
			struct river_value **ret_value)
{
	int r = RIVER_OK;

	*ret_value = NULL;
	switch (e->op) {
	case RIVER_TOKEN_NUMBER:
		r = number_value(e, err, ret_value);
		break;
	case RIVER_TOKEN_FLOAT:
		r = float_value(e, err, ret_value);
		break;
	case RIVER_TOKEN_STRING:
		r = string_value(e, err, ret_value);
		break;
	case RIVER_TOKEN_BOOL:
		*ret_value = (struct river_value *)river_value_bool(err->arena,
								    e->literal.text[0] == 't');
		break;
	default:
		*ret_value = river_value_new(err->arena, RIVER_TYPE_NULL);
		break;
	}
	return r == RIVER_OK && !*ret_value ? -ENOMEM : r;
}

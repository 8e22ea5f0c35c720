/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers under a verb. */
#include "river-config/stdlib_format.h"
#include "river-config/unicode.h"

/* 64 binary digits. */
#define INTEGER_BYTES 64

static unsigned int base_of(uint32_t verb)
{
	switch (verb) {
	case 'v':
	case 'd':
		return 10;
	case 'b':
		return 2;
	case 'o':
	case 'O':
		return 8;
	case 'x':
	case 'X':
		return 16;
	default:
		return 0;
	}
}

static size_t digits_of(uint64_t u, unsigned int base, bool upper, char *end)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	size_t n = 0;

	do {
		*--end = digits[u % base];
		u /= base;
		n++;
	} while (u);
	return n;
}

static void write_prefix(struct river_text *t, const struct river_format *f, unsigned int base,
			 uint32_t verb, bool starts_with_zero)
{
	if (verb == 'O')
		river_text_str(t, "0o");
	if (!f->sharp)
		return;
	if (base == 2)
		river_text_str(t, "0b");
	else if (base == 8 && !starts_with_zero)
		river_text_char(t, '0');
	else if (base == 16)
		river_text_str(t, verb == 'X' ? "0X" : "0x");
}

static void write_integer(struct river_format *f, uint64_t u, bool negative, unsigned int base,
			  uint32_t verb)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);
	bool has_sign = negative || f->plus || f->space;
	size_t precision = f->has_precision ? f->precision : 0, n;
	char buf[INTEGER_BYTES];

	if (f->has_precision && precision == 0 && u == 0) {
		river_format_pad_blank(f, &t);
		return;
	}
	if (!f->has_precision && f->zero && !f->minus && f->has_width)
		precision = f->width > has_sign ? f->width - has_sign : 0;
	n = digits_of(u, base, verb == 'X', buf + sizeof(buf));
	if (has_sign)
		river_text_char(&t, negative ? '-' : f->plus ? '+' : ' ');
	write_prefix(&t, f, base, verb, precision > n || u == 0);
	river_text_repeat(&t, '0', precision > n ? precision - n : 0);
	river_text_append(&t, buf + sizeof(buf) - n, n);
	river_format_pad_blank(f, &t);
}

static uint32_t character_of(uint64_t u)
{
	return u > 0x10ffff || (u >= 0xd800 && u < 0xe000) ? RIVER_CHAR_REPLACEMENT : (uint32_t)u;
}

static void write_character(struct river_format *f, uint64_t u, bool quoted)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);
	char buf[RIVER_UTF8_MAX];
	size_t n = river_utf8_encode(character_of(u), buf);

	if (quoted)
		river_format_quote(&t, buf, n, '\'', f->plus);
	else
		river_text_append(&t, buf, n);
	if (t.failed)
		f->out->failed = true;
	else
		river_format_pad(f, t.data, t.len);
}

/* "U+0078", with a # also the character. */
static void write_code_point(struct river_format *f, uint64_t u)
{
	struct river_text t = RIVER_TEXT_INIT(f->out->arena);
	size_t precision = f->has_precision && f->precision > 4 ? f->precision : 4, n;
	char buf[INTEGER_BYTES];

	n = digits_of(u, 16, true, buf + sizeof(buf));
	river_text_str(&t, "U+");
	river_text_repeat(&t, '0', precision > n ? precision - n : 0);
	river_text_append(&t, buf + sizeof(buf) - n, n);
	if (f->sharp && u <= 0x10ffff && river_is_printable((uint32_t)u)) {
		river_text_str(&t, " '");
		river_text_rune(&t, (uint32_t)u);
		river_text_char(&t, '\'');
	}
	river_format_pad_blank(f, &t);
}

bool river_format_integer(struct river_format *f, uint64_t bits, bool is_signed, uint32_t verb)
{
	bool negative = is_signed && (int64_t)bits < 0;
	unsigned int base = base_of(verb);

	if (verb == 'c' || verb == 'q') {
		write_character(f, bits, verb == 'q');
	} else if (verb == 'U') {
		write_code_point(f, bits);
	} else if (verb == 'v' && f->sharp_v && !is_signed) {
		f->sharp = true;
		write_integer(f, bits, false, 16, 'v');
		f->sharp = false;
	} else if (base) {
		write_integer(f, negative ? 0 - bits : bits, negative, base, verb);
	} else {
		return false;
	}
	return true;
}

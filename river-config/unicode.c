/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters, by libunistring: the C library's classes depend on the locale, and a configuration must
 * not.
 */
#include "river-config/unicode.h"

#include <unictype.h>
#include <unistr.h>

bool river_is_letter(uint32_t c)
{
	return c == '_' || uc_is_general_category_withtable(c, UC_CATEGORY_MASK_L);
}

bool river_is_digit(uint32_t c)
{
	return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Nd);
}

/* Go's notion: of the blanks only that of ASCII. */
bool river_is_printable(uint32_t c)
{
	return c == ' ' || uc_is_general_category_withtable(
				   c, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_M | UC_CATEGORY_MASK_N |
					      UC_CATEGORY_MASK_P | UC_CATEGORY_MASK_S);
}

bool river_is_space(uint32_t c)
{
	return uc_is_property_white_space(c);
}

size_t river_utf8_decode(const char *bytes, size_t n, uint32_t *ret_char)
{
	int len = u8_mbtoucr(ret_char, (const uint8_t *)bytes, n);

	if (len > 0)
		return (size_t)len;
	*ret_char = RIVER_CHAR_INVALID;
	return 1;
}

size_t river_utf8_encode(uint32_t c, char *buf)
{
	int len = u8_uctomb((uint8_t *)buf, c, RIVER_UTF8_MAX);

	return len > 0 ? (size_t)len : river_utf8_encode(RIVER_CHAR_REPLACEMENT, buf);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* LEB128 numbers, 7 bits a byte, lowest first (DWARF 5 §7.6). */
#include "agent/object/cfi/cfi_cursor.h"

uint64_t cfi_uleb_long(struct cfi_cursor *c)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < CFI_LEB_BYTES; i++) {
		uint8_t byte = cfi_u8(c);

		/* Of the tenth byte, one bit is left. */
		if (i == CFI_LEB_BYTES - 1 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return value;
	}
	cfi_fail(c);
	return 0;
}

int64_t cfi_sleb(struct cfi_cursor *c)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < CFI_LEB_BYTES; i++) {
		uint8_t byte = cfi_u8(c);
		unsigned int bits = 7 * i + 7;

		/* The tenth byte can only repeat the sign. */
		if (i == CFI_LEB_BYTES - 1 && byte != 0 && byte != 0x7f)
			break;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		if ((byte & 0x40) && bits < 64)
			value |= UINT64_MAX << bits;
		return (int64_t)value;
	}
	cfi_fail(c);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Encoded pointers. */
#include "agent/object/cfi/cfi_pointer.h"

static uint64_t native(struct cfi_cursor *c, const struct cfi_bases *bases)
{
	return bases->address_bytes == 4 ? cfi_u32(c) : cfi_u64(c);
}

static uint64_t native_signed(struct cfi_cursor *c, const struct cfi_bases *bases)
{
	return bases->address_bytes == 4 ? (uint64_t)(int32_t)cfi_u32(c) : cfi_u64(c);
}

static uint64_t stored(struct cfi_cursor *c, uint8_t format, const struct cfi_bases *bases)
{
	switch (format) {
	case CFI_PE_ABSPTR:
		return native(c, bases);
	case CFI_PE_SIGNED:
		return native_signed(c, bases);
	case CFI_PE_ULEB128:
		return cfi_uleb(c);
	case CFI_PE_SLEB128:
		return (uint64_t)cfi_sleb(c);
	case CFI_PE_UDATA2:
		return cfi_u16(c);
	case CFI_PE_SDATA2:
		return (uint64_t)(int16_t)cfi_u16(c);
	case CFI_PE_UDATA4:
		return cfi_u32(c);
	case CFI_PE_SDATA4:
		return (uint64_t)(int32_t)cfi_u32(c);
	case CFI_PE_UDATA8:
	case CFI_PE_SDATA8:
		return cfi_u64(c);
	}
	cfi_fail(c);
	return 0;
}

static uint64_t base_of(uint8_t application, uint64_t vaddr, const struct cfi_bases *bases)
{
	switch (application) {
	case CFI_PE_PCREL:
		return vaddr;
	case CFI_PE_TEXTREL:
		return bases->text_vaddr;
	case CFI_PE_DATAREL:
		return bases->data_vaddr;
	case CFI_PE_FUNCREL:
		return bases->func_vaddr;
	}
	return 0;
}

bool cfi_pointer_is_known(uint8_t encoding)
{
	uint8_t format = encoding & CFI_PE_FORMAT;

	return (format <= CFI_PE_UDATA8 || (format >= CFI_PE_SIGNED && format <= CFI_PE_SDATA8)) &&
	       (encoding & CFI_PE_APPLICATION) <= CFI_PE_ALIGNED;
}

uint64_t cfi_pointer(struct cfi_cursor *c, uint8_t encoding, const struct cfi_bases *bases)
{
	uint8_t application = encoding & CFI_PE_APPLICATION;

	if (application > CFI_PE_ALIGNED) {
		cfi_fail(c);
		return 0;
	}
	if (application == CFI_PE_ALIGNED) {
		cfi_skip(c, -cfi_vaddr(c) & (bases->address_bytes - 1u));
		return native(c, bases);
	}
	uint64_t vaddr = cfi_vaddr(c);
	uint64_t value = stored(c, encoding & CFI_PE_FORMAT, bases);
	return value ? value + base_of(application, vaddr, bases) : 0;
}

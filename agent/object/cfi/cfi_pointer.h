/* SPDX-License-Identifier: Apache-2.0 */
/* Encoded pointers (LSB 5, "DWARF Exception Header Encoding"): a format, and what it is relative to. */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_POINTER_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_POINTER_H

#include "agent/object/cfi/cfi_cursor.h"

#define CFI_PE_ABSPTR 0x00
#define CFI_PE_ULEB128 0x01
#define CFI_PE_UDATA2 0x02
#define CFI_PE_UDATA4 0x03
#define CFI_PE_UDATA8 0x04
#define CFI_PE_SIGNED 0x08
#define CFI_PE_SLEB128 0x09
#define CFI_PE_SDATA2 0x0a
#define CFI_PE_SDATA4 0x0b
#define CFI_PE_SDATA8 0x0c
#define CFI_PE_FORMAT 0x0f
#define CFI_PE_PCREL 0x10
#define CFI_PE_TEXTREL 0x20
#define CFI_PE_DATAREL 0x30
#define CFI_PE_FUNCREL 0x40
#define CFI_PE_ALIGNED 0x50
#define CFI_PE_APPLICATION 0x70
#define CFI_PE_INDIRECT 0x80
#define CFI_PE_OMIT 0xff

struct cfi_bases {
	uint64_t text_vaddr;
	uint64_t data_vaddr;
	uint64_t func_vaddr;
	uint8_t address_bytes; /* of ABSPTR: 4, 8 */
};

bool cfi_pointer_is_known(uint8_t encoding);
/* The pointer at the cursor; it fails where that has an unknown encoding. Stored 0 is 0, whatever it is relative to. Nothing is read
 * through INDIRECT. */
uint64_t cfi_pointer(struct cfi_cursor *c, uint8_t encoding, const struct cfi_bases *bases);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A file in memory with V8's builtins in it, and no symbol: a segment that is read, one that is run. */
#ifndef XAGENT_TESTS_UNIT_OBJECT_V8_BLOB_IMAGE_H
#define XAGENT_TESTS_UNIT_OBJECT_V8_BLOB_IMAGE_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/v8/blob.h"

#define IMAGE_DATA_AT 0x1000U
#define IMAGE_CODE_AT 0x280000U
#define IMAGE_CODE_BYTES 0x60000U
#define IMAGE_BYTES (IMAGE_CODE_AT + IMAGE_CODE_BYTES)
#define IMAGE_CODE_VADDR 0x7280000U

struct blob_image {
	uint32_t modulus;
	uint32_t data_at, data_bytes; /* of the description, in the file */
	uint32_t code_at, code_bytes;
	uint32_t builtin_bytes; /* of the one that is described first */
};

static const struct blob_image usual_image = {
	.modulus = 65521,
	.data_at = 0x20000,
	.data_bytes = 16400,
	.code_at = IMAGE_CODE_AT + 0x340,
	.code_bytes = 0x50000,
	.builtin_bytes = 1016,
};

static inline uint32_t image_checksum(const uint8_t *bytes, size_t n, uint32_t modulus)
{
	uint32_t first = 0, second = 0;

	for (size_t i = 0; i < n; i++) {
		first = (first + bytes[i]) % modulus;
		second = (second + first) % modulus;
	}
	return second << 16 | first;
}

static inline void image_put32(uint8_t *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
}

static inline void image_segment(uint8_t *image, size_t i, uint32_t flags, uint32_t at, uint32_t n,
				 uint64_t vaddr)
{
	Elf64_Phdr p = { .p_type = PT_LOAD,
			 .p_flags = flags,
			 .p_offset = at,
			 .p_vaddr = vaddr,
			 .p_filesz = n,
			 .p_memsz = n,
			 .p_align = 0x1000 };

	memcpy(image + sizeof(Elf64_Ehdr) + i * sizeof(p), &p, sizeof(p));
}

/* Once more, when what they are of was changed. */
static inline void image_seal(uint8_t *image, const struct blob_image *b)
{
	uint8_t *data = image + b->data_at;

	memset(data, 0, 16);
	image_put32(data + 8, image_checksum(image + b->code_at, b->code_bytes, b->modulus));
	image_put32(data, image_checksum(data + 16, b->data_bytes - 16, b->modulus));
}

/* To be freed. */
static inline uint8_t *image_new(const struct blob_image *b)
{
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					       EV_CURRENT },
				  .e_type = ET_DYN,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_phoff = sizeof(head),
				  .e_ehsize = sizeof(head),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 2 };
	uint8_t *image = malloc(IMAGE_BYTES);
	uint32_t random = 1, behind = b->data_at + ((b->data_bytes + 7) & ~7U);

	for (size_t i = 0; i < IMAGE_BYTES; i++) {
		random = random * 1664525 + 1013904223;
		image[i] = (uint8_t)(random >> 24);
	}
	memcpy(image, &head, sizeof(head));
	image_segment(image, 0, PF_R, IMAGE_DATA_AT, IMAGE_CODE_AT - IMAGE_DATA_AT, IMAGE_DATA_AT);
	image_segment(image, 1, PF_R | PF_X, IMAGE_CODE_AT, IMAGE_CODE_BYTES, IMAGE_CODE_VADDR);
	image_put32(image + b->data_at + 24, 0);
	image_put32(image + b->data_at + 28, b->builtin_bytes);
	image_put32(image + behind, b->code_bytes);
	image_put32(image + behind + 4, b->data_bytes);
	image_seal(image, b);
	return image;
}

#endif

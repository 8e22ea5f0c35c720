/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed sections: SHF_COMPRESSED (gABI, "Section Compression") and the older .zdebug_*. */
#ifndef XAGENT_AGENT_OBJECT_CFI_CFI_INFLATE_H
#define XAGENT_AGENT_OBJECT_CFI_CFI_INFLATE_H

#include <stdbool.h>

#include "agent/object/elf.h"

/* Of what is inflated as a whole. The .debug_frame of a large program of C++ has a few MB; Chromium's 30. */
#define CFI_MAX_INFLATED_BYTES ((uint64_t)64 << 20)

enum cfi_packing {
	CFI_PACKING_PLAIN,
	CFI_PACKING_ZLIB,
	CFI_PACKING_ZSTD,
};

struct cfi_packed {
	enum cfi_packing packing;
	uint64_t file_off; /* of what is packed, behind its header */
	uint64_t n_packed;
	uint64_t n_bytes; /* as the header says */
};

/* What the section's header says, any size; false when it is malformed, or of another kind. */
bool cfi_packed_read(struct elf *elf, const struct elf_section *section, struct cfi_packed *ret);
/* All of it. The caller frees. 0; -EBADMSG: it is not what its header says; -errno. */
int cfi_inflate(const struct bytes *bytes, const struct cfi_packed *packed, uint8_t **ret_data);
/* The same into packed->n_bytes bytes of the caller's. */
int cfi_inflate_to(const struct bytes *bytes, const struct cfi_packed *packed, uint8_t *data);
/* The same into a file, from `file_off` on. */
int cfi_inflate_to_file(const struct bytes *bytes, const struct cfi_packed *packed, int fd,
			uint64_t file_off);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The vDSO's ELF image. */
#include "agent/object/vdso.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/util/macro.h"

/* The image is one PT_LOAD, mapped in whole pages; section headers, where they lie within these,
 * are found as well. The kernel's own headers need no suspicion. */
int vdso_image(struct bytes *ret_bytes)
{
	const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t end = 0;

	if (!header)
		return -ENOENT;
	const ElfW(Phdr) *segments = (const void *)((const char *)header + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD)
			end = MAX_OF(end, (size_t)(segments[i].p_offset + segments[i].p_filesz));
	*ret_bytes = bytes_from_memory(header, (end + page - 1) & ~(page - 1));
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic section of an ELF file, as the dynamic linker finds it: through PT_DYNAMIC. */
#include <elf.h>
#include <string.h>

#include "agent/object/elf_internal.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

static int read_entry(const struct elf *elf, struct bytes_window *w, uint64_t file_off,
		      int64_t *ret_tag, uint64_t *ret_value)
{
	union {
		Elf64_Dyn d64;
		Elf32_Dyn d32;
	} d;
	int r = bytes_read_window(&elf->bytes, w, file_off, &d,
				  elf->is_64 ? sizeof(d.d64) : sizeof(d.d32));

	if (r < 0)
		return r;
	*ret_tag = elf->is_64 ? d.d64.d_tag : d.d32.d_tag;
	*ret_value = elf->is_64 ? d.d64.d_un.d_val : d.d32.d_un.d_val;
	return 0;
}

bool elf_dynamic(const struct elf *elf, int64_t tag, uint64_t *ret_value)
{
	const struct elf_segment *dynamic = NULL;
	size_t entry_bytes = elf->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	struct bytes_window w;

	w.n = 0;
	for (size_t i = 0; i < elf->n_segments && !dynamic; i++)
		if (elf->segments[i].type == PT_DYNAMIC)
			dynamic = &elf->segments[i];
	if (!dynamic)
		return false;
	uint64_t n = MIN_OF(dynamic->file_bytes / entry_bytes, (uint64_t)ELF_MAX_DYNAMIC);
	for (uint64_t i = 0; i < n; i++) {
		int64_t entry_tag;
		uint64_t value;

		if (read_entry(elf, &w, dynamic->file_off + i * entry_bytes, &entry_tag, &value) <
			    0 ||
		    entry_tag == DT_NULL)
			return false;
		if (entry_tag == tag) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

bool elf_soname(const struct elf *elf, char ret_soname[ELF_SONAME_BYTES])
{
	char raw[ELF_SONAME_BYTES];
	uint64_t strings, name, file_off;

	if (!elf_dynamic(elf, DT_SONAME, &name) || !elf_dynamic(elf, DT_STRTAB, &strings) ||
	    !elf_file_off(elf, strings, &file_off) || file_off > UINT64_MAX - name)
		return false;
	ssize_t n = bytes_read_some(&elf->bytes, file_off + name, raw, sizeof(raw));
	if (n <= 0)
		return false;
	n = (ssize_t)strnlen(raw, (size_t)n);
	if (n == 0 || n == sizeof(raw))
		return false;
	str_copy_utf8(ret_soname, ELF_SONAME_BYTES, (struct str){ raw, (size_t)n });
	return true;
}

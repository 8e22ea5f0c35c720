/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids in notes. */
#include "agent/object/build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

/* Go's linker, cmd/link/internal/ld/elf.go: ELF_NOTE_GOBUILDID_TAG. */
#define NT_GO_BUILD_ID 4

const char *build_id_text(const struct build_id *id)
{
	return id->gnu[0] ? id->gnu : id->go;
}

static void take_gnu(const unsigned char *p, size_t n, struct build_id *id)
{
	static const char digits[] = "0123456789abcdef";

	if (n == 0 || n > BUILD_ID_MAX_BYTES || id->gnu[0])
		return;
	for (size_t i = 0; i < n; i++) {
		id->gnu[2 * i] = digits[p[i] >> 4];
		id->gnu[2 * i + 1] = digits[p[i] & 15];
	}
	id->gnu[2 * n] = '\0';
}

static void take_go(const unsigned char *p, size_t n, struct build_id *id)
{
	if (n == 0 || n >= sizeof(id->go) || id->go[0])
		return;
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] > '~')
			return;
	memcpy(id->go, p, n);
	id->go[n] = '\0';
}

static size_t round_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* note = namesz descsz type name pad desc pad */
void build_id_parse_notes(const void *notes, size_t n, size_t align, struct build_id *id)
{
	const unsigned char *p = notes;

	align = align == 8 ? 8 : 4;
	while (n >= sizeof(Elf32_Nhdr)) {
		Elf32_Nhdr h; /* the 64-bit form has the same layout */

		memcpy(&h, p, sizeof(h));
		size_t desc_at = round_up(sizeof(h) + (size_t)h.n_namesz, align);
		size_t end = desc_at + (size_t)h.n_descsz;
		if (end > n)
			return;
		const unsigned char *name = p + sizeof(h);
		if (h.n_namesz == 4 && memcmp(name, "GNU", 4) == 0 && h.n_type == NT_GNU_BUILD_ID)
			take_gnu(p + desc_at, h.n_descsz, id);
		if (h.n_namesz == 4 && memcmp(name, "Go\0", 4) == 0 && h.n_type == NT_GO_BUILD_ID)
			take_go(p + desc_at, h.n_descsz, id);
		end = MIN_OF(round_up(end, align), n);
		p += end;
		n -= end;
	}
}

static int read_notes(const struct elf *elf, uint64_t file_off, uint64_t size, uint64_t align,
		      size_t *budget, struct build_id *id)
{
	size_t n = (size_t)MIN_OF(size, (uint64_t)*budget);
	_cleanup_free_ char *notes = malloc(n + 1);

	*budget -= n;
	if (!notes)
		return -ENOMEM;
	ssize_t got = bytes_read_some(elf_bytes(elf), file_off, notes, n);
	if (got < 0)
		return (int)got;
	build_id_parse_notes(notes, (size_t)got, (size_t)align, id);
	return 0;
}

int build_id_read(struct elf *elf, struct build_id *ret_id)
{
	struct build_id id = { "", "" };
	size_t budget = BUILD_ID_MAX_NOTES_BYTES;

	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (s->type != PT_NOTE)
			continue;
		int r = read_notes(elf, s->file_off, s->file_bytes, s->align, &budget, &id);
		if (r < 0)
			return r;
	}
	/* Sections that are garbage hold no notes. */
	if (elf_load_sections(elf) == -ENOMEM)
		return -ENOMEM;
	for (size_t i = 0; i < elf_n_sections(elf) && !(id.gnu[0] && id.go[0]); i++) {
		const struct elf_section *s = elf_section(elf, i);

		if (s->type != SHT_NOTE || (s->flags & SHF_COMPRESSED))
			continue;
		int r = read_notes(elf, s->file_off, s->size_bytes, 4, &budget, &id);
		if (r < 0)
			return r;
	}
	*ret_id = id;
	return 0;
}

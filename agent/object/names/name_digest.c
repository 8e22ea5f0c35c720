/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two files give the same names. */
#include "agent/object/names/name_digest.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "agent/object/names/libc_functions.h"
#include "agent/object/v8/builtin_source.h"
#include "agent/util/macro.h"
#include "agent/util/siphash.h"
#include "agent/util/str.h"

#define CHUNK_BYTES ((size_t)64 * 1024)

/* Contents are filled up by zeros to a word; how long they are stands in the headers. */
static int add_contents(struct siphash *s, const struct elf *elf, const struct elf_section *section,
			char *chunk)
{
	for (uint64_t at = 0; at < section->size_bytes; at += CHUNK_BYTES) {
		size_t n = (size_t)MIN_OF(section->size_bytes - at, (uint64_t)CHUNK_BYTES);
		int r = bytes_read(elf_bytes(elf), section->file_off + at, chunk, n);

		if (r < 0)
			return r == -ENODATA ? NAME_DIGEST_NONE : r;
		siphash_padded(s, chunk, n);
	}
	return 0;
}

static bool is_lines(const struct elf *elf, const struct elf_section *section)
{
	struct str name = str_from(elf_section_name(elf, section));

	return str_starts_with(name, STR_LIT(".debug_")) ||
	       str_starts_with(name, STR_LIT(".zdebug_"));
}

/* Go's names are in what is loaded, wherever. */
static bool is_go(const struct elf *elf)
{
	return elf_section_by_name(elf, ".gopclntab") ||
	       elf_section_by_name(elf, ".data.rel.ro.gopclntab") ||
	       elf_section_by_name(elf, ".go.buildinfo");
}

/* Where functions without a name begin. */
static bool is_extents(const struct elf *elf, const struct elf_section *section)
{
	return str_starts_with(str_from(elf_section_name(elf, section)), STR_LIT(".eh_frame"));
}

static bool is_wanted(const struct elf *elf, const struct elf_section *section, bool with_lines,
		      bool with_data)
{
	const struct elf_section *dynamic = elf_section_by_type(elf, SHT_DYNSYM);

	if (section->type == SHT_NOBITS || section->type == SHT_NULL ||
	    (section->flags & SHF_EXECINSTR))
		return false;
	if (!with_lines && is_lines(elf, section))
		return false;
	return with_data || !(section->flags & SHF_ALLOC) || section == dynamic ||
	       (dynamic && section == elf_section(elf, dynamic->link)) || is_extents(elf, section);
}

static void add_headers(struct siphash *s, const struct elf *elf)
{
	siphash_word(s, elf_machine(elf) | (uint64_t)elf_is_64(elf) << 16);
	siphash_word(s, elf_n_segments(elf));
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *p = elf_segment(elf, i);

		siphash_word(s, p->type | (uint64_t)p->flags << 32);
		siphash_words(s, (uint64_t[]){ p->file_off, p->file_bytes, p->vaddr, p->memory_bytes },
			  4);
	}
	siphash_word(s, elf_n_sections(elf));
	for (size_t i = 0; i < elf_n_sections(elf); i++) {
		const struct elf_section *h = elf_section(elf, i);

		siphash_words(s,
			  (uint64_t[]){ h->name_off | (uint64_t)h->type << 32, h->flags, h->vaddr,
					h->file_off, h->size_bytes, h->entry_bytes,
					h->link | (uint64_t)h->info << 32 },
			  7);
	}
}

static int add_sections(struct siphash *s, const struct elf *elf, bool with_lines)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);
	bool with_data = is_go(elf);
	uint64_t n_bytes = 0;
	int r = chunk ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < elf_n_sections(elf); i++) {
		const struct elf_section *section = elf_section(elf, i);

		if (!is_wanted(elf, section, with_lines, with_data))
			continue;
		n_bytes += MIN_OF(section->size_bytes, NAME_DIGEST_MAX_BYTES + 1);
		r = n_bytes > NAME_DIGEST_MAX_BYTES ? NAME_DIGEST_NONE
						    : add_contents(s, elf, section, chunk);
	}
	return r;
}

/* They are read from code, which is not in it. */
static void add_libc(struct siphash *s, const struct elf *elf)
{
	struct libc_function functions[LIBC_FUNCTIONS_MAX];
	size_t n = libc_functions_find(elf, functions);

	siphash_word(s, n);
	for (size_t i = 0; i < n; i++) {
		siphash_word(s, functions[i].begin);
		siphash_padded(s, functions[i].name, strlen(functions[i].name));
	}
}

int name_digest(struct elf *elf, const struct siphash_key *key, uint64_t previous,
		bool with_lines, uint64_t *ret_digest)
{
	struct siphash s;
	int r = elf_load_sections(elf);

	if (r < 0)
		return r;
	/* Names of V8's builtins are in data, and where they are is in code. */
	if (elf_n_sections(elf) == 0 || v8_has_builtins_without_symbols(elf))
		return NAME_DIGEST_NONE;
	siphash_init(&s, key);
	siphash_word(&s, previous);
	siphash_word(&s, elf_bytes(elf)->size);
	add_headers(&s, elf);
	add_libc(&s, elf);
	r = add_sections(&s, elf, with_lines);
	if (r != 0)
		return r;
	*ret_digest = siphash_finish(&s, NULL, 0);
	return 0;
}

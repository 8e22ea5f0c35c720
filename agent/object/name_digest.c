/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two files give the same names. */
#include "agent/object/name_digest.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

#define CHUNK_BYTES ((size_t)64 * 1024)

struct siphash {
	uint64_t v[4];
	uint64_t n_bytes; /* hashed so far: a multiple of 8 */
};

static uint64_t rotate(uint64_t x, unsigned int n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

static void sip_init(struct siphash *s, const struct name_digest_key *key)
{
	*s = (struct siphash){
		{ key->words[0] ^ 0x736f6d6570736575ULL, key->words[1] ^ 0x646f72616e646f6dULL,
		  key->words[0] ^ 0x6c7967656e657261ULL, key->words[1] ^ 0x7465646279746573ULL },
		0
	};
}

static void sip_word(struct siphash *s, uint64_t word)
{
	s->v[3] ^= word;
	sip_round(s->v);
	sip_round(s->v);
	s->v[0] ^= word;
	s->n_bytes += sizeof(word);
}

/* The last bytes, fewer than 8, and the length. */
static uint64_t sip_finish(struct siphash *s, const void *tail, size_t n)
{
	uint64_t last = 0;

	if (n > 0)
		memcpy(&last, tail, n);
	sip_word(s, last | (s->n_bytes + n) << 56);
	s->v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(s->v);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

static void sip_words(struct siphash *s, const void *bytes, size_t n_words)
{
	for (size_t i = 0; i < n_words; i++) {
		uint64_t word;

		memcpy(&word, (const char *)bytes + i * sizeof(word), sizeof(word));
		sip_word(s, word);
	}
}

uint64_t name_digest_of(const struct name_digest_key *key, const void *bytes, size_t n)
{
	struct siphash s;

	sip_init(&s, key);
	sip_words(&s, bytes, n / 8);
	return sip_finish(&s, (const char *)bytes + n / 8 * 8, n % 8);
}

/* Contents are filled up by zeros to a word; how long they are stands in the headers. */
static int add_contents(struct siphash *s, const struct elf *elf, const struct elf_section *section,
			char *chunk)
{
	for (uint64_t at = 0; at < section->size_bytes; at += CHUNK_BYTES) {
		size_t n = (size_t)MIN_OF(section->size_bytes - at, (uint64_t)CHUNK_BYTES);
		int r = bytes_read(elf_bytes(elf), section->file_off + at, chunk, n);

		if (r < 0)
			return r == -ENODATA ? NAME_DIGEST_NONE : r;
		memset(chunk + n, 0, 8);
		sip_words(s, chunk, (n + 7) / 8);
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
	sip_word(s, elf_machine(elf) | (uint64_t)elf_is_64(elf) << 16);
	sip_word(s, elf_n_segments(elf));
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *p = elf_segment(elf, i);

		sip_word(s, p->type | (uint64_t)p->flags << 32);
		sip_words(s, (uint64_t[]){ p->file_off, p->file_bytes, p->vaddr, p->memory_bytes },
			  4);
	}
	sip_word(s, elf_n_sections(elf));
	for (size_t i = 0; i < elf_n_sections(elf); i++) {
		const struct elf_section *h = elf_section(elf, i);

		sip_words(s,
			  (uint64_t[]){ h->name_off | (uint64_t)h->type << 32, h->flags, h->vaddr,
					h->file_off, h->size_bytes, h->entry_bytes,
					h->link | (uint64_t)h->info << 32 },
			  7);
	}
}

static int add_sections(struct siphash *s, const struct elf *elf, bool with_lines)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES + 8);
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

int name_digest(struct elf *elf, const struct name_digest_key *key, uint64_t previous,
		bool with_lines, uint64_t *ret_digest)
{
	struct siphash s;
	int r = elf_load_sections(elf);

	if (r < 0)
		return r;
	if (elf_n_sections(elf) == 0)
		return NAME_DIGEST_NONE;
	sip_init(&s, key);
	sip_word(&s, previous);
	sip_word(&s, elf_bytes(elf)->size);
	add_headers(&s, elf);
	r = add_sections(&s, elf, with_lines);
	if (r == 0)
		*ret_digest = sip_finish(&s, NULL, 0);
	return r;
}

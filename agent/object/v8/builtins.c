/* SPDX-License-Identifier: Apache-2.0 */
/* Where V8's builtins are, and the table of their names. */
#include "agent/object/v8/builtins.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Of one that is described: the words that are known, and more, by version. */
#define MIN_STRIDE 8
#define MAX_STRIDE 64
#define KNOWN_NAME "InterpreterEntryTrampoline"
/* Places that lead to this name before the search ends. */
#define MAX_TRIES 8
/* Entries next to each other that have no name: Debian's Node.js 24 has 279, which are in C++. */
#define MAX_HOLES 1024
#define MAX_KIND 15
#define KIND_CPP 0

struct entry {
	uint64_t name, kind, data;
};

/* Builtins follow each other, each at a multiple of the alignment, and at least a byte behind the one before. */
static uint32_t described_by(const uint8_t *words, size_t n, size_t stride, uint64_t alignment,
			     uint32_t code_bytes, struct v8_builtin *ret_all)
{
	uint64_t end = 0;
	uint32_t k = 0;

	for (size_t at = 0; end < code_bytes && k < V8_BUILTINS_MAX && at + 8 <= n; at += stride) {
		uint32_t place[2];

		memcpy(place, words + at, sizeof(place));
		if (place[0] != end || place[1] == 0 || place[1] >= code_bytes - end)
			return 0;
		ret_all[k++] = (struct v8_builtin){ place[0], place[0] + place[1], 0 };
		end = (end + place[1] + alignment) & ~(alignment - 1);
	}
	return end == code_bytes ? k : 0;
}

uint32_t v8_builtins_described(const uint8_t *description, size_t n, uint32_t code_bytes,
			       struct v8_builtin *ret_all)
{
	for (size_t stride = MIN_STRIDE; stride <= MAX_STRIDE && n > V8_BLOB_BUILTINS; stride += 4)
		for (uint64_t alignment = 64; alignment >= V8_BLOB_ALIGNMENT; alignment /= 2) {
			uint32_t k =
				described_by(description + V8_BLOB_BUILTINS, n - V8_BLOB_BUILTINS,
					     stride, alignment, code_bytes, ret_all);

			if (k)
				return k;
		}
	return 0;
}

/* What leads to the table. */
struct search {
	const struct elf *elf;
	struct v8_builtins *builtins;
	uint64_t text_begin, text_end;
	struct bytes_window window;
	uint64_t name_vaddr; /* of the known one */
	unsigned int n_tries;
	bool is_found;
	/* Of twice as many entries as there are builtins: where its name is in the file (0: none), and what it is. */
	uint64_t *names;
	uint8_t *found;
};

static bool is_letter(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_name(struct search *s, uint64_t file_off)
{
	char name[V8_BUILTIN_NAME_BYTES];
	size_t n = 0;

	if (bytes_read_window(elf_bytes(s->elf), &s->window, file_off, name, sizeof(name)) < 0)
		return false;
	while (n < sizeof(name) && is_letter(name[n]))
		n++;
	return n > 0 && n < sizeof(name) && name[n] == '\0';
}

/* Entries without a name are of builtins in C++. */
enum found { NO_ENTRY, HOLE, NAMED, NAMED_CPP };

static enum found look_at_entry(struct search *s, const struct entry *e, uint64_t *ret_name_at)
{
	*ret_name_at = 0;
	if (!e->name && !e->kind && !e->data)
		return HOLE;
	/* Of one that is exported the linker leaves the function to the relocation. */
	if (e->kind == KIND_CPP && e->data && (e->data < s->text_begin || e->data >= s->text_end))
		return NO_ENTRY;
	if (e->kind > MAX_KIND || !elf_file_off(s->elf, e->name, ret_name_at) ||
	    !is_name(s, *ret_name_at))
		return NO_ENTRY;
	return e->kind == KIND_CPP ? NAMED_CPP : NAMED;
}

/* From the known entry on, up or down: the last one before something else. */
static size_t last_entry(struct search *s, const struct entry *entries, size_t n, size_t known,
			 size_t step)
{
	unsigned int n_holes = 0;
	size_t i = known;

	/* Below 0 it is beyond n. */
	for (; i < n && n_holes <= MAX_HOLES; i += step) {
		enum found found = look_at_entry(s, &entries[i], &s->names[i]);

		s->found[i] = (uint8_t)found;
		if (found == NO_ENTRY)
			break;
		n_holes = found == HOLE ? n_holes + 1 : 0;
	}
	return i - step;
}

/* Whether the table begins with that entry: what leads to C++ is the same code for all, which nothing else has the length of at all these places. */
static bool begins_with(const struct search *s, size_t first)
{
	const struct v8_builtins *b = s->builtins;
	uint32_t length = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t its = b->all[i].end - b->all[i].begin;

		if (s->found[first + i] == NAMED)
			continue;
		if (length && its != length)
			return false;
		length = its;
	}
	return true;
}

/* Of the entries around that of the known name. What lies before them, or behind, may look like more of them. */
static bool take_table(struct search *s, const struct entry *entries, size_t n, size_t known)
{
	struct v8_builtins *b = s->builtins;
	size_t least = last_entry(s, entries, n, known, (size_t)-1);
	size_t last = last_entry(s, entries, n, known, 1);
	size_t n_found = 0, found = 0;

	if (s->found[known] != NAMED)
		return false;
	for (size_t first = least; first + b->n <= last + 1; first++)
		if (begins_with(s, first)) {
			found = first;
			n_found++;
		}
	for (uint32_t i = 0; n_found == 1 && i < b->n; i++)
		b->all[i].name_at = s->names[found + i];
	return n_found == 1;
}

static const struct elf_segment *segment_of(const struct elf *elf, uint64_t file_off)
{
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (s->type == PT_LOAD && file_off >= s->file_off &&
		    file_off - s->file_off < s->file_bytes)
			return s;
	}
	return NULL;
}

/* The entry there may have all others before it, or behind. */
static bool is_table(struct search *s, uint64_t file_off)
{
	const struct elf_segment *segment = segment_of(s->elf, file_off);
	uint64_t most = s->builtins->n - 1;
	_cleanup_free_ struct entry *entries = calloc(2 * most + 1, sizeof(*entries));

	if (!segment || !entries)
		return false;
	uint64_t n_before = MIN_OF((file_off - segment->file_off) / sizeof(*entries), most);
	uint64_t n_behind = MIN_OF(
		(segment->file_off + segment->file_bytes - file_off) / sizeof(*entries), most + 1);
	uint64_t n = n_before + n_behind;
	return n_behind > 0 &&
	       bytes_read(elf_bytes(s->elf), file_off - n_before * sizeof(*entries), entries,
			  n * sizeof(*entries)) == 0 &&
	       take_table(s, entries, n, n_before);
}

static bool look_for_table(void *data, const struct v8_piece *piece)
{
	struct search *s = data;
	uint64_t word;

	for (size_t at = piece->n_seen; at + sizeof(word) <= piece->n; at += sizeof(word)) {
		memcpy(&word, piece->bytes + at, sizeof(word));
		if (word != s->name_vaddr)
			continue;
		s->is_found = is_table(s, piece->file_off + at);
		if (s->is_found || --s->n_tries == 0)
			return true;
	}
	return false;
}

static bool linked_at(const struct elf *elf, uint64_t file_off, uint64_t *ret_vaddr)
{
	const struct elf_segment *s = segment_of(elf, file_off);

	if (s)
		*ret_vaddr = s->vaddr + (file_off - s->file_off);
	return s;
}

static bool look_for_name(void *data, const struct v8_piece *piece)
{
	static const char name[] = "\0" KNOWN_NAME;
	struct search *s = data;
	size_t from = piece->n_seen - MIN_OF(piece->n_seen, sizeof(name));
	const uint8_t *at = memmem(piece->bytes + from, piece->n - from, name, sizeof(name));

	return at && linked_at(s->elf, piece->file_off + (uint64_t)(at - piece->bytes) + 1,
			       &s->name_vaddr);
}

static bool find_names(const struct elf *elf, struct v8_builtins *b)
{
	_cleanup_free_ uint64_t *names = calloc(2 * (size_t)b->n, sizeof(*names));
	_cleanup_free_ uint8_t *found = calloc(2 * (size_t)b->n, sizeof(*found));
	struct search s = {
		.elf = elf, .builtins = b, .n_tries = MAX_TRIES, .names = names, .found = found
	};

	return names && found && elf_text_range(elf, &s.text_begin, &s.text_end) &&
	       v8_pieces_look(elf, V8_PIECES_READ_ONLY, look_for_name, &s) &&
	       v8_pieces_look(elf, V8_PIECES_ALL, look_for_table, &s) && s.is_found;
}

static bool read_description(const struct elf *elf, const struct v8_blob *blob,
			     struct v8_builtins *b)
{
	_cleanup_free_ uint8_t *data = malloc(blob->data_bytes);
	_cleanup_free_ struct v8_builtin *all = calloc(V8_BUILTINS_MAX, sizeof(*all));

	if (!data || !all || bytes_read(elf_bytes(elf), blob->data_at, data, blob->data_bytes) < 0)
		return false;
	b->n = v8_builtins_described(data, blob->data_bytes, blob->code_bytes, all);
	b->all = b->n ? malloc(b->n * sizeof(*all)) : NULL;
	if (!b->all)
		return false;
	memcpy(b->all, all, b->n * sizeof(*all));
	return true;
}

bool v8_builtins_find(const struct elf *elf, struct v8_builtins *ret_builtins)
{
	struct v8_builtins b = { 0 };
	struct v8_blob blob;

	if (!v8_blob_find(elf, &blob) || !linked_at(elf, blob.code_at, &b.code_vaddr))
		return false;
	b.code_bytes = blob.code_bytes;
	if (read_description(elf, &blob, &b) && find_names(elf, &b)) {
		*ret_builtins = b;
		return true;
	}
	v8_builtins_fini(&b);
	return false;
}

void v8_builtins_fini(struct v8_builtins *builtins)
{
	free(builtins->all);
	builtins->all = NULL;
}

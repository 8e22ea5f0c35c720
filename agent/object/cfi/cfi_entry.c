/* SPDX-License-Identifier: Apache-2.0 */
/* CIE and FDE. */
#include "agent/object/cfi/cfi_entry.h"

#include "agent/object/cfi/cfi_program.h"
#include "agent/util/macro.h"

/* In place of a length: it follows in 64 bits (DWARF 5 §7.4); above are reserved values. */
#define LENGTH_64 0xffffffffu
#define LENGTH_RESERVED 0xfffffff0u
/* The id of a CIE in .debug_frame; in .eh_frame it is 0. */
#define CIE_ID_32 0xffffffffu
#define CIE_ID_64 UINT64_MAX
/* Letters are one character each; the compilers' longest is "zPLR" and one or two. */
#define MAX_AUGMENTATION_BYTES 32

/* In .eh_frame an FDE's CIE is that far before this field; in .debug_frame, at that place of the section. The field has 4 bytes in
 * .eh_frame whatever the length's form (LSB). */
static void read_id(const struct cfi_section *section, bool is_64, uint64_t field_off,
		    struct cfi_entry *entry)
{
	bool wide = is_64 && !section->is_eh;
	uint64_t id = wide ? cfi_u64(&entry->body) : cfi_u32(&entry->body);
	uint64_t cie_id = section->is_eh ? 0 : wide ? CIE_ID_64 : CIE_ID_32;

	if (entry->body.failed || (id != cie_id && section->is_eh && id > field_off)) {
		entry->kind = CFI_ENTRY_BAD;
		return;
	}
	entry->kind = id == cie_id ? CFI_ENTRY_CIE : CFI_ENTRY_FDE;
	entry->cie_off = section->is_eh ? field_off - id : id;
}

/* length := 4 bytes | 0xffffffff, 8 bytes */
static bool read_length(struct cfi_cursor *c, uint64_t *ret_length, bool *ret_is_64)
{
	uint64_t length = cfi_u32(c);

	*ret_is_64 = length == LENGTH_64;
	if (*ret_is_64)
		length = cfi_u64(c);
	else if (length >= LENGTH_RESERVED)
		return false;
	*ret_length = length;
	return !c->failed;
}

/* Makes the body end where the entry does. */
static int read_body(const struct cfi_section *section, struct cfi_window *w, uint64_t n_wanted,
		     uint64_t body_off, struct cfi_entry *entry)
{
	uint64_t length = entry->next - body_off;
	uint64_t wanted = MIN_OF(length, n_wanted);

	if (cfi_left(&entry->body) < wanted) {
		int r = cfi_section_view(section, w, body_off, (size_t)wanted, &entry->body);

		if (r != 0)
			return r;
	}
	if (cfi_left(&entry->body) > length)
		entry->body.end = entry->body.at + length;
	return 0;
}

int cfi_entry_read(const struct cfi_section *section, struct cfi_window *w, uint64_t off,
		   uint64_t n_wanted, struct cfi_entry *ret_entry)
{
	struct cfi_entry *entry = ret_entry;
	uint64_t length;
	bool is_64;

	*entry = (struct cfi_entry){ .kind = CFI_ENTRY_END, .off = off };
	int r = cfi_section_view(section, w, off, CFI_HEAD_BYTES, &entry->body);
	if (r != 0)
		return r;
	if (!read_length(&entry->body, &length, &is_64))
		return 0;
	uint64_t body_off = off + (is_64 ? 12 : 4);
	if (length > section->n_bytes - body_off)
		return 0;
	entry->next = body_off + length;
	entry->kind = length ? CFI_ENTRY_BAD : CFI_ENTRY_TERMINATOR;
	if (length == 0 || length > CFI_MAX_ENTRY_BYTES)
		return 0;
	r = read_body(section, w, n_wanted, body_off, entry);
	if (r != 0)
		return r;
	read_id(section, is_64, body_off, entry);
	return 0;
}

/* P := encoding, pointer to the personality routine */
static void skip_personality(struct cfi_cursor *data, const struct cfi_bases *bases)
{
	uint8_t encoding = cfi_u8(data);

	if (encoding != CFI_PE_OMIT)
		(void)cfi_pointer(data, encoding, bases);
}

/* False: a letter that is not known. */
static bool read_letter(char letter, struct cfi_cursor *data, struct cfi_cie *cie)
{
	switch (letter) {
	case 'R':
		cie->encoding = cfi_u8(data);
		return true;
	case 'L':
		(void)cfi_u8(data);
		return true;
	case 'P':
		skip_personality(data, &cie->bases);
		return true;
	case 'S':
		cie->is_signal = true;
		return true;
	case 'B': /* AArch64: return addresses are signed with the B key */
	case 'G': /* AArch64: the stack is tagged */
		return true;
	}
	return false;
}

/* With a length, what is behind a letter that is not known can be passed over; without, it cannot. */
static bool read_augmentation(const char *letters, struct cfi_cursor *c, struct cfi_cie *cie)
{
	cie->has_length = *letters == 'z';
	if (!cie->has_length) {
		while (*letters && read_letter(*letters, c, cie))
			letters++;
		return *letters == '\0' && !c->failed;
	}
	struct cfi_cursor data = cfi_take(c, cfi_uleb(c));
	letters++;
	while (*letters && read_letter(*letters, &data, cie))
		letters++;
	return !c->failed && !data.failed;
}

static bool read_string(struct cfi_cursor *c, const char **ret_string)
{
	size_t n = MIN_OF(cfi_left(c), (size_t)MAX_AUGMENTATION_BYTES);
	const char *string = (const char *)c->at;

	if (n == 0 || strnlen(string, n) == n)
		return false;
	cfi_skip(c, strlen(string) + 1);
	*ret_string = string;
	return true;
}

/* Of version 4: sizes of addresses and of segment selectors. */
static bool read_sizes(uint8_t version, struct cfi_cursor *c, struct cfi_cie *cie)
{
	if (version < 4)
		return true;
	cie->bases.address_bytes = cfi_u8(c);
	cie->segment_bytes = cfi_u8(c);
	return (cie->bases.address_bytes == 4 || cie->bases.address_bytes == 8) &&
	       cie->segment_bytes <= 8;
}

/* cie := version augmentation [eh data] [sizes] code_align data_align ra [augmentation data] */
static bool read_cie(struct cfi_cursor *c, struct cfi_cie *cie)
{
	uint8_t version = cfi_u8(c);
	const char *letters;

	if ((version != 1 && version != 3 && version != 4) || !read_string(c, &letters))
		return false;
	/* GCC 2's table of exception regions. */
	if (letters[0] == 'e' && letters[1] == 'h') {
		cfi_skip(c, cie->bases.address_bytes);
		letters += 2;
	}
	if (!read_sizes(version, c, cie))
		return false;
	cie->code_align = cfi_uleb(c);
	cie->data_align = cfi_sleb(c);
	cie->ra_column = version == 1 ? cfi_u8(c) : cfi_uleb(c);
	return read_augmentation(letters, c, cie) && cfi_pointer_is_known(cie->encoding) &&
	       !c->failed;
}

void cfi_cie_parse(const struct cfi_section *section, const struct cfi_entry *entry,
		   struct cfi_cie *ret_cie)
{
	struct cfi_cursor c = entry->body;

	*ret_cie = (struct cfi_cie){
		.off = entry->off,
		.bases = section->bases,
		.initial = cfi_state_initial(),
	};
	ret_cie->is_bad = entry->kind != CFI_ENTRY_CIE || !read_cie(&c, ret_cie) ||
			  !cfi_program_initial(section->abi, ret_cie, c);
}

/* As linkers write nearly all of them: both in 4 bytes, the begin relative to where it is. */
static bool read_usual_range(const struct cfi_cie *cie, struct cfi_cursor *c,
			     struct cfi_fde *ret_fde)
{
	int32_t distance, n_bytes;

	if (cie->encoding != (CFI_PE_PCREL | CFI_PE_SDATA4) || cie->segment_bytes > 0 ||
	    cfi_left(c) < sizeof(distance) + sizeof(n_bytes))
		return false;
	memcpy(&distance, c->at, sizeof(distance));
	memcpy(&n_bytes, c->at + sizeof(distance), sizeof(n_bytes));
	ret_fde->begin = distance ? cfi_vaddr(c) + (uint64_t)(int64_t)distance : 0;
	ret_fde->n_bytes = (uint64_t)(int64_t)n_bytes;
	c->at += sizeof(distance) + sizeof(n_bytes);
	return true;
}

static void read_range(const struct cfi_cie *cie, struct cfi_cursor *c, struct cfi_fde *ret_fde)
{
	if (read_usual_range(cie, c, ret_fde))
		return;
	cfi_skip(c, cie->segment_bytes);
	ret_fde->begin = cfi_pointer(c, cie->encoding, &cie->bases);
	ret_fde->n_bytes = cfi_pointer(c, cie->encoding & CFI_PE_FORMAT, &cie->bases);
}

bool cfi_fde_head(const struct cfi_cie *cie, struct cfi_entry *entry, struct cfi_fde *ret_fde)
{
	struct cfi_cursor *c = &entry->body;
	uint64_t end;

	read_range(cie, c, ret_fde);
	if (c->failed)
		return false;
	/* Linkers write 0 or all ones where the function was dropped. */
	if (ret_fde->begin == 0 || ret_fde->begin == UINT64_MAX)
		ret_fde->n_bytes = 0;
	return !__builtin_add_overflow(ret_fde->begin, ret_fde->n_bytes, &end);
}

bool cfi_fde_parse(const struct cfi_cie *cie, struct cfi_entry *entry, struct cfi_fde *ret_fde)
{
	if (!cfi_fde_head(cie, entry, ret_fde))
		return false;
	if (cie->has_length)
		cfi_skip(&entry->body, cfi_uleb(&entry->body));
	ret_fde->program = entry->body;
	return !entry->body.failed;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From numbers of entries to what the entries say. */
#include "agent/runtimes/hotspot/layout.h"

#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/util/macro.h"

/* The largest of these structures has 344 bytes. */
#define MAX_OFFSET 512

/* One of each pair is in a version. */
static const struct {
	uint8_t one, other;
} pairs[] = {
	{ HOTSPOT_HEAPS, HOTSPOT_HEAP },
	{ HOTSPOT_ARRAY_LENGTH, HOTSPOT_ARRAY_LENGTH_16 },
	{ HOTSPOT_BLOB_CODE, HOTSPOT_BLOB_CODE_OFFSET },
	{ HOTSPOT_NMETHOD_METHOD, HOTSPOT_NMETHOD_METHOD_9 },
	{ HOTSPOT_SYMBOL_BODY, HOTSPOT_SYMBOL_BODY_8 },
};

/* Where a method lies in its file, and what follows its bytecodes: without these there are no lines. */
static const uint8_t of_lines[] = { HOTSPOT_CONST_SIZE, HOTSPOT_CONST_FLAGS, HOTSPOT_CONST_FLAGS_21,
				    HOTSPOT_POOL_SOURCE, HOTSPOT_KLASS_SOURCE };

/* Where code tells what was inlined into it: each kind of code has another set of these. */
static const uint8_t of_scopes[] = {
	HOTSPOT_NMETHOD_SCOPES,	    HOTSPOT_NMETHOD_SCOPES_9, HOTSPOT_NMETHOD_PLACES,
	HOTSPOT_NMETHOD_PLACES_END, HOTSPOT_NMETHOD_METADATA, HOTSPOT_NMETHOD_IMMUTABLE,
	HOTSPOT_NMETHOD_NUMBER,	    HOTSPOT_BLOB_MUTABLE,     HOTSPOT_BLOB_RELOCATION,
};

static bool is_one_of(size_t field, const uint8_t *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fields[i] == field)
			return true;
	return false;
}

/*
 * Without bounds, there is one heap; without a tier, none is told; without scopes, nothing is inlined that could be told; where a block does not say whether it is in use
 * and how long, nothing is remembered of its code.
 */
static bool is_optional(size_t field)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i].one == field || pairs[i].other == field)
			return true;
	return field == HOTSPOT_LOW_BOUND || field == HOTSPOT_HIGH_BOUND ||
	       field == HOTSPOT_NMETHOD_TIER || field == HOTSPOT_BLOCK_USED ||
	       field == HOTSPOT_BLOCK_LENGTH ||
	       is_one_of(field, of_scopes, ARRAY_SIZE(of_scopes)) ||
	       is_one_of(field, of_lines, ARRAY_SIZE(of_lines));
}

static bool has(const struct hotspot_layout *l, size_t field)
{
	return l->at[field] != HOTSPOT_NONE;
}

static bool has_all(const struct hotspot_layout *l)
{
	for (size_t i = 0; i < HOTSPOT_FIELD_MAX; i++)
		if (!has(l, i) && !is_optional(i))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (!has(l, pairs[i].one) && !has(l, pairs[i].other))
			return false;
	return has(l, HOTSPOT_HEAP) || (has(l, HOTSPOT_LOW_BOUND) && has(l, HOTSPOT_HIGH_BOUND));
}

bool hotspot_layout_is_known(const struct hotspot_layout *of_file)
{
	return of_file->table_at && of_file->major >= HOTSPOT_FIRST_MAJOR &&
	       of_file->major <= HOTSPOT_LAST_MAJOR && of_file->const_bytes &&
	       of_file->const_bytes <= HOTSPOT_CONST_BYTES && of_file->pool_bytes &&
	       of_file->block_bytes && has_all(of_file);
}

static bool read_entry(const struct hotspot_layout *of_file, uint64_t base, size_t field,
		       const struct runtime_memory *memory, struct hotspot_entry *ret_entry)
{
	uint64_t at = of_file->table_at + base + of_file->at[field] * sizeof(*ret_entry);

	return memory->read(memory->data, at, ret_entry, sizeof(*ret_entry)) == 0;
}

/* False: it is no static member. */
static bool put_address(struct hotspot_layout *l, size_t field, uint64_t address)
{
	if (field == HOTSPOT_HEAPS || field == HOTSPOT_HEAP)
		l->heaps_at = address;
	else if (field == HOTSPOT_LOW_BOUND)
		l->low_at = address;
	else if (field == HOTSPOT_HIGH_BOUND)
		l->high_at = address;
	else
		return false;
	return true;
}

/* A field's offset, or a static member's address, which the loader has raised already. */
static bool take(struct hotspot_layout *l, size_t field, const struct hotspot_entry *e)
{
	if (put_address(l, field, e->address))
		return e->is_static && e->address;
	l->at[field] = (uint16_t)MIN_OF(e->offset, (uint64_t)HOTSPOT_NONE - 1);
	return !e->is_static && e->offset <= MAX_OFFSET;
}

/* What one read takes has to lie in it, and no constructor has run as long as all offsets are 0. */
static bool is_sane(const struct hotspot_layout *l)
{
	static const uint8_t in_blob[] = { HOTSPOT_BLOB_NAME,	     HOTSPOT_BLOB_FRAME_BYTES,
					   HOTSPOT_BLOB_COMPLETE,    HOTSPOT_BLOB_CODE,
					   HOTSPOT_BLOB_CODE_OFFSET, HOTSPOT_NMETHOD_METHOD,
					   HOTSPOT_NMETHOD_METHOD_9 };
	static const uint8_t in_const[] = { HOTSPOT_CONST_POOL, HOTSPOT_CONST_CODE_BYTES,
					    HOTSPOT_CONST_NAME, HOTSPOT_CONST_SIGNATURE,
					    HOTSPOT_CONST_NUMBER };

	for (size_t i = 0; i < ARRAY_SIZE(in_blob); i++)
		if (has(l, in_blob[i]) && l->at[in_blob[i]] > HOTSPOT_BLOB_BYTES - 8)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(in_const); i++)
		if (l->at[in_const[i]] > HOTSPOT_CONST_BYTES - 8)
			return false;
	return l->at[HOTSPOT_METHOD_CONST] && l->at[HOTSPOT_CONST_NAME] &&
	       l->at[HOTSPOT_KLASS_NAME] && l->at[HOTSPOT_BLOB_FRAME_BYTES];
}

/* JDK 25 and later keep these tables elsewhere than those before. Of 23 and 24, which have only some of them there, no build could be had. */
static bool has_scopes(const struct hotspot_layout *l)
{
	if (!has(l, HOTSPOT_NMETHOD_PLACES) || !has(l, HOTSPOT_NMETHOD_NUMBER))
		return false;
	if (has(l, HOTSPOT_NMETHOD_IMMUTABLE))
		return has(l, HOTSPOT_NMETHOD_SCOPES) && has(l, HOTSPOT_BLOB_MUTABLE) &&
		       has(l, HOTSPOT_BLOB_RELOCATION);
	return has(l, HOTSPOT_NMETHOD_METADATA) && has(l, HOTSPOT_NMETHOD_PLACES_END) &&
	       (has(l, HOTSPOT_NMETHOD_SCOPES) || has(l, HOTSPOT_NMETHOD_SCOPES_9));
}

/* The one that there is takes the place of both. */
static void join_pairs(struct hotspot_layout *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i].one != HOTSPOT_HEAPS && pairs[i].one != HOTSPOT_BLOB_CODE &&
		    !has(l, pairs[i].one))
			l->at[pairs[i].one] = l->at[pairs[i].other];
}

bool hotspot_layout_read(const struct hotspot_layout *of_file, uint64_t base,
			 const struct runtime_memory *memory, struct hotspot_layout *ret_layout)
{
	struct hotspot_entry e;

	*ret_layout = *of_file;
	for (size_t i = 0; i < HOTSPOT_FIELD_MAX; i++)
		if (has(of_file, i) &&
		    (!read_entry(of_file, base, i, memory, &e) || !take(ret_layout, i, &e)))
			return false;
	join_pairs(ret_layout);
	if (!has(ret_layout, HOTSPOT_CONST_FLAGS))
		ret_layout->at[HOTSPOT_CONST_FLAGS] = ret_layout->at[HOTSPOT_CONST_FLAGS_21];
	ret_layout->has_lines =
		has(ret_layout, HOTSPOT_CONST_FLAGS) && has(ret_layout, HOTSPOT_CONST_SIZE);
	if (ret_layout->at[HOTSPOT_BLOCK_USED] >= ret_layout->block_bytes)
		ret_layout->at[HOTSPOT_BLOCK_USED] = HOTSPOT_NONE;
	if (ret_layout->at[HOTSPOT_BLOCK_LENGTH] >= ret_layout->block_bytes)
		ret_layout->at[HOTSPOT_BLOCK_LENGTH] = HOTSPOT_NONE;
	ret_layout->claimed_at = ret_layout->claimed_bytes = 0;
	ret_layout->has_scopes = has_scopes(ret_layout);
	ret_layout->is_supported = is_sane(ret_layout);
	return ret_layout->is_supported;
}

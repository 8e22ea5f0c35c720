/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a protobuf message, one after the other. */
#include "agent/scrape/wire_read.h"

#define TYPE_BITS 3
#define VARINT_BITS 7
/* Ten bytes hold 64 bits. */
#define VARINT_MAX_BITS 70

static bool broken(struct wire *w)
{
	w->broken = true;
	return false;
}

bool wire_varint(struct wire *w, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (w->broken || w->p == w->end)
		return false;
	for (unsigned int shift = 0; shift < VARINT_MAX_BITS && w->p < w->end;
	     shift += VARINT_BITS) {
		uint8_t byte = *w->p++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return true;
		}
	}
	return broken(w);
}

static bool skip(struct wire *w, size_t n)
{
	if (n > (size_t)(w->end - w->p))
		return broken(w);
	w->p += n;
	return true;
}

static bool take_part(struct wire *w, struct wire *ret_part)
{
	uint64_t n;

	if (!wire_varint(w, &n) || n > (size_t)(w->end - w->p))
		return broken(w);
	*ret_part = wire_of(w->p, n);
	return skip(w, n);
}

static bool take_value(struct wire *w, struct wire_field *f)
{
	switch (f->type) {
	case WIRE_VARINT:
		return wire_varint(w, &f->value) || broken(w);
	case WIRE_64BIT:
		return skip(w, sizeof(uint64_t));
	case WIRE_BYTES:
		return take_part(w, &f->part);
	case WIRE_32BIT:
		return skip(w, sizeof(uint32_t));
	}
	return broken(w); /* groups are of proto2 */
}

bool wire_next(struct wire *w, struct wire_field *ret_field)
{
	struct wire_field f = { .whole = w->p };
	uint64_t tag;

	if (!wire_varint(w, &tag))
		return false;
	if (tag >> TYPE_BITS == 0 || tag > UINT32_MAX)
		return broken(w);
	f.number = (uint32_t)(tag >> TYPE_BITS);
	f.type = (enum wire_type)(tag & ((1 << TYPE_BITS) - 1));
	if (!take_value(w, &f))
		return false;
	f.n_whole = (size_t)(w->p - f.whole);
	*ret_field = f;
	return true;
}

bool wire_numbers(struct wire_field *field, uint64_t *ret_value)
{
	if (field->type == WIRE_BYTES)
		return wire_varint(&field->part, ret_value);
	if (field->type != WIRE_VARINT)
		return false;
	*ret_value = field->value;
	field->type = WIRE_BYTES; /* the next call finds nothing packed */
	field->part = wire_of(NULL, 0);
	return true;
}

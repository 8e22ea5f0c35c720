/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of V8's heap, in the memory of a process. */
#include "agent/runtimes/v8/objects.h"

#include <string.h>

#include "agent/util/macro.h"

bool v8_get(const struct v8_look *l, uint64_t addr, void *dst, size_t n)
{
	return l->memory->read(l->memory->data, addr, dst, n) == 0;
}

uint64_t v8_word_at(const struct v8_look *l, uint64_t addr)
{
	uint64_t word = 0;

	return v8_get(l, addr, &word, sizeof(word)) ? word : 0;
}

uint32_t v8_int_at(const struct v8_look *l, uint64_t addr)
{
	uint32_t value = 0;

	return v8_get(l, addr, &value, sizeof(value)) ? value : 0;
}

struct v8_object v8_object_at(const struct v8_look *l, uint64_t pointer)
{
	struct v8_object o = { 0 };

	if ((pointer & V8_TAG_MASK) != V8_TAG)
		return o;
	uint64_t map = v8_word_at(l, pointer - V8_TAG);
	if ((map & V8_TAG_MASK) == V8_TAG &&
	    v8_get(l, map - V8_TAG + l->layout->map_type, &o.type, sizeof(o.type)))
		o.at = pointer - V8_TAG;
	return o;
}

uint64_t v8_shared_word(const struct v8_look *l, uint8_t at)
{
	uint64_t word;

	memcpy(&word, l->shared + MIN_OF(at, sizeof(l->shared) - sizeof(word)), sizeof(word));
	return word;
}

static uint32_t shared_int(const struct v8_look *l, uint8_t at)
{
	uint32_t value;

	memcpy(&value, l->shared + MIN_OF(at, sizeof(l->shared) - sizeof(value)), sizeof(value));
	return value;
}

static uint32_t print_of(const struct v8_look *l)
{
	uint64_t script = v8_shared_word(l, l->layout->shared_script) - V8_TAG;

	return v8_print_of(v8_word_at(l, script + l->layout->script_id),
			   shared_int(l, l->layout->shared_id),
			   shared_int(l, l->layout->shared_parameters));
}

bool v8_shared_read(struct v8_look *l, uint64_t at, uint32_t print)
{
	size_t n = MIN_OF((size_t)l->layout->shared_id + 4, sizeof(l->shared));

	return v8_object_at(l, at + V8_TAG).type == l->layout->type_shared &&
	       v8_get(l, at, l->shared, n) && print_of(l) == print;
}

struct v8_object v8_shared_script(const struct v8_look *l)
{
	struct v8_object script = v8_object_at(l, v8_shared_word(l, l->layout->shared_script));

	return script.type == l->layout->type_script ? script : (struct v8_object){ 0 };
}

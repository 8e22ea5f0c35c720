/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is found is proven by names: a class is the one whose name says so. So it need not be known whether references have 32 bits or 64, nor whether objects have their
 * class in a word of 32 bits, of 64, or in their mark: what leads to java.lang.Thread, and from its name to java.lang.String, is how this JVM does it.
 */
#include "agent/runtimes/hotspot/heap_objects.h"

#include <string.h>

#include "agent/runtimes/hotspot/memory_words.h"
#include "agent/util/macro.h"

#define MAX_SUPERS 32
#define MAX_FIELDS 1024
#define MAX_STREAM_BYTES 4096
#define CLASS_NAME_BYTES 32
/* Six numbers of 16 bits a field: flags, name, signature, value, and the offset (oops/fieldInfo.hpp, until JDK 20). */
#define FIELD_WORDS 6
#define FIELD_NAME 1
#define FIELD_OFFSET 4
/* The lowest bits of that offset say what it is. */
#define FIELD_TAG_BITS 2
/* Array<u1>, Array<u2>: their length, and what follows it. */
#define ARRAY_BYTES 4
/* Numbers of a stream have six bits a byte, the lowest first; from this value on there are more. */
#define HIGH 192
/* Of flags in a stream, those that a further number follows (oops/fieldInfo.hpp). */
#define STREAM_INITIALIZED 1u
#define STREAM_GENERIC 4u
#define STREAM_GROUP 16u

/* Where objects have their class, and arrays their length. */
static const struct class_word {
	uint8_t at, shift, bits, length;
} class_words[] = {
	{ 8, 0, 32, 12 },
	{ 8, 0, 64, 16 },
	{ 0, 42, 22, 8 }, /* -XX:+UseCompactObjectHeaders, from JDK 24 on */
};

struct heap {
	const struct hotspot_vm *vm;
	const struct runtime_memory *memory;
	const struct class_word *word;
	uint64_t narrow_base, class_base;
	uint8_t narrow_shift, class_shift;
	bool is_narrow;
};

static uint64_t class_mask(const struct class_word *w)
{
	return w->bits == 64 ? ~0ULL : (1ULL << w->bits) - 1;
}

/* As it is in the object. */
static uint64_t class_number(const struct heap *h, uint64_t object)
{
	return memory_u64(h->memory, object + h->word->at) >> h->word->shift & class_mask(h->word);
}

static uint64_t class_of(const struct heap *h, uint64_t object)
{
	uint64_t number = class_number(h, object);

	if (h->word->bits == 64 || !number)
		return number;
	return h->class_base + (number << h->class_shift);
}

static uint64_t reference(const struct heap *h, uint64_t from)
{
	uint64_t narrow;

	if (!h->is_narrow)
		return memory_u64(h->memory, from);
	narrow = memory_u32(h->memory, from);
	return narrow ? h->narrow_base + (narrow << h->narrow_shift) : 0;
}

static bool symbol_is(const struct heap *h, uint64_t symbol, const char *text)
{
	const struct hotspot_layout *l = &h->vm->layout;
	char bytes[CLASS_NAME_BYTES];
	size_t n = strlen(text);

	return symbol && memory_u16(h->memory, symbol + l->at[HOTSPOT_SYMBOL_LENGTH]) == n &&
	       h->memory->read(h->memory->data, symbol + l->at[HOTSPOT_SYMBOL_BODY], bytes, n) ==
		       0 &&
	       memcmp(bytes, text, n) == 0;
}

static bool class_is(const struct heap *h, uint64_t class, const char *name)
{
	uint64_t at = class + h->vm->layout.at[HOTSPOT_KLASS_NAME];

	return class && !(class & 7) && symbol_is(h, memory_u64(h->memory, at), name);
}

/* The class of that name that the object's own extends, or is; 0: there is none. */
static uint64_t class_named(const struct heap *h, uint64_t object, const char *name)
{
	uint64_t class = class_of(h, object);

	for (size_t i = 0; i < MAX_SUPERS && class && !(class & 7); i++) {
		if (class_is(h, class, name))
			return class;
		class = memory_u64(h->memory, class + h->vm->super);
	}
	return 0;
}

static bool constant_is(const struct heap *h, uint64_t class, uint32_t index, const char *text)
{
	const struct hotspot_layout *l = &h->vm->layout;
	uint64_t pool = memory_u64(h->memory, class + h->vm->constants);

	if (!pool || !index || index >= memory_u32(h->memory, pool + l->at[HOTSPOT_POOL_LENGTH]))
		return false;
	return symbol_is(h, memory_u64(h->memory, pool + l->pool_bytes + 8ULL * index), text);
}

static uint16_t field_in_array(const struct heap *h, uint64_t class, const char *name)
{
	uint64_t array = memory_u64(h->memory, class + h->vm->fields);
	size_t n = memory_u32(h->memory, array) / FIELD_WORDS;
	size_t n_java = h->vm->n_fields != HOTSPOT_THREAD_NONE
				? memory_u16(h->memory, class + h->vm->n_fields)
				: MAX_FIELDS;

	n = MIN_OF(n, n_java);
	for (size_t i = 0; i < n; i++) {
		uint16_t f[FIELD_WORDS];

		if (h->memory->read(h->memory->data, array + ARRAY_BYTES + i * sizeof(f), f,
				    sizeof(f)) < 0)
			return HOTSPOT_THREAD_NONE;
		if (constant_is(h, class, f[FIELD_NAME], name))
			return (uint16_t)(((uint32_t)f[FIELD_OFFSET + 1] << 16 | f[FIELD_OFFSET]) >>
					  FIELD_TAG_BITS);
	}
	return HOTSPOT_THREAD_NONE;
}

struct stream {
	const uint8_t *at, *end;
};

/* Bytes are 1 to 255 (utilities/unsigned5.hpp); what is behind the end is 0. */
static uint32_t next_number(struct stream *s)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < 5 && s->at < s->end; i++) {
		uint32_t byte = *s->at++;

		sum += (byte - 1) << (6 * i);
		if (byte < HIGH)
			break;
	}
	return sum;
}

struct field {
	uint32_t name, offset;
};

static void next_field(struct stream *s, struct field *ret_field)
{
	uint32_t flags;

	ret_field->name = next_number(s);
	(void)next_number(s); /* its signature */
	ret_field->offset = next_number(s);
	(void)next_number(s); /* what it is to the language */
	flags = next_number(s);
	if (flags & STREAM_INITIALIZED)
		(void)next_number(s);
	if (flags & STREAM_GENERIC)
		(void)next_number(s);
	if (flags & STREAM_GROUP)
		(void)next_number(s);
}

static uint16_t field_in_stream(const struct heap *h, uint64_t class, const char *name)
{
	uint64_t array = memory_u64(h->memory, class + h->vm->field_stream);
	uint8_t bytes[MAX_STREAM_BYTES];
	size_t n_bytes = memory_u32(h->memory, array);
	struct stream s = { bytes, bytes + n_bytes };

	if (n_bytes > sizeof(bytes) ||
	    h->memory->read(h->memory->data, array + ARRAY_BYTES, bytes, n_bytes) < 0)
		return HOTSPOT_THREAD_NONE;
	size_t n = next_number(&s);
	(void)next_number(&s); /* those that the JVM adds come behind */
	for (size_t i = 0; i < MIN_OF(n, (size_t)MAX_FIELDS) && s.at < s.end; i++) {
		struct field f;

		next_field(&s, &f);
		if (constant_is(h, class, f.name, name))
			return (uint16_t)MIN_OF(f.offset, (uint32_t)HOTSPOT_THREAD_NONE);
	}
	return HOTSPOT_THREAD_NONE;
}

static uint16_t field_of(const struct heap *h, uint64_t class, const char *name)
{
	if (h->vm->field_stream != HOTSPOT_THREAD_NONE)
		return field_in_stream(h, class, name);
	return h->vm->fields != HOTSPOT_THREAD_NONE ? field_in_array(h, class, name)
						    : HOTSPOT_THREAD_NONE;
}

/* Where in it the class is by which it is a thread; 0: it is none that can be read. */
static uint64_t find_class_word(struct heap *h, uint64_t object)
{
	for (size_t i = 0; i < ARRAY_SIZE(class_words); i++) {
		h->word = &class_words[i];
		uint64_t class = class_named(h, object, "java/lang/Thread");
		if (class)
			return class;
	}
	return 0;
}

/* 0: it has no name, or it cannot be read. */
static uint64_t find_string(struct heap *h, uint64_t from)
{
	for (int narrow = 1; narrow >= 0; narrow--) {
		h->is_narrow = narrow;
		uint64_t string = reference(h, from);
		if (string && !(string & 7) && class_is(h, class_of(h, string), "java/lang/String"))
			return string;
	}
	return 0;
}

/* Since JDK 23 elements follow the length at once; before, they began at a whole word. */
static uint16_t elements_of(const struct heap *h)
{
	uint16_t end = h->word->length + 4;

	return h->vm->layout.major >= 23 || end % 8 == 0 ? end : end + 4;
}

static void take_classes(struct hotspot_threads *k, const struct heap *h, uint64_t string,
			 uint64_t array)
{
	k->class_at = h->word->at;
	k->class_shift = h->word->shift;
	k->class_mask = class_mask(h->word);
	k->string_class = class_number(h, string);
	k->array_class = class_number(h, array);
	k->length = h->word->length;
	k->elements = elements_of(h);
	k->is_narrow = h->is_narrow;
	k->narrow_shift = h->narrow_shift;
	k->narrow_base = h->narrow_base;
}

static bool take_string(struct hotspot_threads *k, const struct heap *h, uint64_t string)
{
	uint64_t class = class_of(h, string), array;

	k->value = field_of(h, class, "value");
	k->coder = field_of(h, class, "coder");
	if (k->value == HOTSPOT_THREAD_NONE)
		return false;
	array = reference(h, string + k->value);
	if (!array ||
	    !class_is(h, class_of(h, array), k->coder == HOTSPOT_THREAD_NONE ? "[C" : "[B"))
		return false;
	take_classes(k, h, string, array);
	return true;
}

/* What tells whether objects are being moved: without it no object is read. */
static bool take_moves(struct hotspot_vm *vm, const struct runtime_memory *memory)
{
	uint64_t heap = vm->heap_at ? memory_u64(memory, vm->heap_at) : 0;

	vm->kernel.moving_at = heap + vm->moving;
	vm->kernel.moved_at = heap + vm->moved;
	return heap && vm->moving != HOTSPOT_THREAD_NONE && vm->moved != HOTSPOT_THREAD_NONE;
}

static bool find_names(struct hotspot_vm *vm, const struct runtime_memory *memory,
		       uint64_t thread_object)
{
	struct heap h = { .vm = vm, .memory = memory };

	h.narrow_base = vm->narrow_base_at ? memory_u64(memory, vm->narrow_base_at) : 0;
	h.narrow_shift = vm->narrow_shift_at ? memory_u32(memory, vm->narrow_shift_at) & 31 : 0;
	h.class_base = vm->class_base_at ? memory_u64(memory, vm->class_base_at) : 0;
	h.class_shift = vm->class_shift_at ? memory_u32(memory, vm->class_shift_at) & 31 : 0;
	uint64_t class = find_class_word(&h, thread_object);
	if (!class)
		return false;
	vm->kernel.name = field_of(&h, class, "name");
	if (vm->kernel.name == HOTSPOT_THREAD_NONE)
		return false;
	uint64_t string = find_string(&h, thread_object + vm->kernel.name);
	return string && take_string(&vm->kernel, &h, string);
}

bool heap_class_is(const struct hotspot_vm *vm, const struct runtime_memory *memory, uint64_t class,
		   const char *name)
{
	struct heap h = { .vm = vm, .memory = memory };

	return class_is(&h, class, name);
}

uint16_t heap_field_of(const struct hotspot_vm *vm, const struct runtime_memory *memory,
		       uint64_t class, const char *name)
{
	struct heap h = { .vm = vm, .memory = memory };

	return field_of(&h, class, name);
}

bool heap_constant_is(const struct hotspot_vm *vm, const struct runtime_memory *memory,
		      uint64_t class, uint32_t index, const char *text)
{
	struct heap h = { .vm = vm, .memory = memory };

	return constant_is(&h, class, index, text);
}

bool heap_objects_find_names(struct hotspot_vm *vm, const struct runtime_memory *memory,
			     uint64_t thread_object)
{
	if (vm->super == HOTSPOT_THREAD_NONE || vm->constants == HOTSPOT_THREAD_NONE ||
	    !take_moves(vm, memory) || memory_u8(memory, vm->kernel.moving_at))
		return false;
	uint32_t moved = memory_u32(memory, vm->kernel.moved_at);
	return find_names(vm, memory, thread_object) && !memory_u8(memory, vm->kernel.moving_at) &&
	       memory_u32(memory, vm->kernel.moved_at) == moved;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM knows some classes by a table (vmClasses). Of that the members' table tells some words, and the classes looked for are near these, wherever a version has
 * them: each is proven by its name.
 */
#include "agent/runtimes/hotspot/continuations.h"

#include "agent/runtimes/hotspot/heap_objects.h"
#include "agent/runtimes/hotspot/memory_words.h"
#include "agent/util/macro.h"

/* Of that table, before and behind the word that is known: it has some hundred words. */
#define CLASS_WORDS 128
#define MAX_METHODS 1024
#define MAX_CODE_BYTES (1u << 16)
/* Array<Method*>: its length, and what follows it. */
#define ARRAY_BYTES 8
/* An object of this class has fields of at most that size. */
#define MAX_STACK_AT 256
/* Of Klass::_layout_helper of classes of objects: the other bits are the size in bytes (oops/klass.hpp). */
#define LAYOUT_FLAGS 7u
/* Virtual threads are part of the language. */
#define FIRST_MAJOR 21
/* Since then a monitor that another thread has moves a virtual thread's frames to the heap (JEP 491). */
#define PREEMPTION_MAJOR 24

struct code {
	uint64_t at;
	uint32_t n_bytes;
};

static uint64_t class_named(const struct hotspot_vm *vm, const struct runtime_memory *memory,
			    const char *name)
{
	for (uint64_t i = 0; i < 2 * CLASS_WORDS; i++) {
		uint64_t class = memory_u64(memory, vm->classes_at + 8 * i - 8 * CLASS_WORDS);

		if (heap_class_is(vm, memory, class, name))
			return class;
	}
	return 0;
}

static bool method_is(const struct hotspot_vm *vm, const struct runtime_memory *memory,
		      uint64_t class, uint64_t method, const char *name)
{
	const struct hotspot_layout *l = &vm->layout;
	uint64_t constants = memory_u64(memory, method + l->at[HOTSPOT_METHOD_CONST]);

	return method && constants &&
	       heap_constant_is(vm, memory, class,
				memory_u16(memory, constants + l->at[HOTSPOT_CONST_NAME]), name);
}

/* From where its instructions begin on. */
static bool take_blob(const struct hotspot_vm *vm, const struct runtime_memory *memory,
		      uint64_t blob, struct code *ret_code)
{
	const struct hotspot_layout *l = &vm->layout;
	uint64_t end = blob + memory_u32(memory, blob + vm->blob_bytes);

	ret_code->at = l->at[HOTSPOT_BLOB_CODE] != HOTSPOT_NONE
			       ? memory_u64(memory, blob + l->at[HOTSPOT_BLOB_CODE])
			       : blob + memory_u32(memory, blob + l->at[HOTSPOT_BLOB_CODE_OFFSET]);
	if (ret_code->at <= blob || ret_code->at >= end || end - blob >= MAX_CODE_BYTES)
		return false;
	ret_code->n_bytes = (uint32_t)(end - ret_code->at);
	return true;
}

/* The compiled code of a class's method; false: it has none. */
static bool find_code(const struct hotspot_vm *vm, const struct runtime_memory *memory,
		      uint64_t class, const char *name, struct code *ret_code)
{
	uint64_t methods = memory_u64(memory, class + vm->methods);
	size_t n = MIN_OF((size_t)memory_u32(memory, methods), (size_t)MAX_METHODS);

	for (size_t i = 0; i < n; i++) {
		uint64_t method = memory_u64(memory, methods + ARRAY_BYTES + 8 * i);

		uint64_t blob = 0;

		if (method_is(vm, memory, class, method, name))
			blob = memory_u64(memory, method + vm->method_code);
		if (blob)
			return take_blob(vm, memory, blob, ret_code);
	}
	return false;
}

static bool take_fields(struct hotspot_chunks *c, const struct hotspot_vm *vm,
			const struct runtime_memory *memory, uint64_t chunk, uint64_t continuation)
{
	uint32_t bytes = memory_u32(memory, chunk + vm->layout_helper) & ~LAYOUT_FLAGS;

	c->tail = heap_field_of(vm, memory, continuation, "tail");
	c->parent = heap_field_of(vm, memory, chunk, "parent");
	c->size = heap_field_of(vm, memory, chunk, "size");
	c->sp = heap_field_of(vm, memory, chunk, "sp");
	c->bottom = heap_field_of(vm, memory, chunk, "bottom");
	c->stack = (uint16_t)MIN_OF(bytes, (uint32_t)HOTSPOT_THREAD_NONE);
	return c->tail != HOTSPOT_THREAD_NONE && c->parent < bytes && c->size < bytes &&
	       c->sp < bytes && c->bottom < bytes && bytes <= MAX_STACK_AT;
}

static bool take_code(struct hotspot_chunks *c, const struct hotspot_vm *vm,
		      const struct runtime_memory *memory, uint64_t continuation)
{
	struct code enter, yield;

	if (!find_code(vm, memory, continuation, "enterSpecial", &enter) ||
	    !find_code(vm, memory, continuation, "doYield", &yield))
		return false;
	c->enter_at = enter.at;
	c->enter_bytes = enter.n_bytes;
	c->yield_at = yield.at;
	c->yield_bytes = yield.n_bytes;
	return true;
}

/* As objects of it have it. */
static uint64_t number_of(const struct hotspot_vm *vm, const struct runtime_memory *memory,
			  uint64_t class)
{
	if (vm->kernel.class_mask == ~0ULL)
		return class;
	return (class - memory_u64(memory, vm->class_base_at)) >>
	       (memory_u32(memory, vm->class_shift_at) & 31);
}

static bool has_members(const struct hotspot_vm *vm)
{
	return vm->classes_at && vm->methods != HOTSPOT_THREAD_NONE &&
	       vm->method_code != HOTSPOT_THREAD_NONE && vm->blob_bytes != HOTSPOT_THREAD_NONE &&
	       vm->layout_helper != HOTSPOT_THREAD_NONE && vm->thread_state != HOTSPOT_THREAD_NONE;
}

void hotspot_find_continuations(struct hotspot_vm *vm, const struct runtime_memory *memory)
{
	struct hotspot_chunks c = { .thread_state = vm->thread_state,
				    .has_preemption = vm->layout.major >= PREEMPTION_MAJOR };
	uint64_t chunk, continuation;

	vm->kernel.chunks.is_wanted =
		vm->layout.major >= FIRST_MAJOR && has_members(vm) && !vm->is_zgc;
	if (vm->kernel.chunks.chunk_class || !vm->kernel.has_names || !vm->kernel.chunks.is_wanted)
		return;
	chunk = class_named(vm, memory, "jdk/internal/vm/StackChunk");
	continuation = class_named(vm, memory, "jdk/internal/vm/Continuation");
	if (!chunk || !continuation)
		return;
	/* Classes stay as they are. */
	vm->kernel.chunks.is_wanted = take_fields(&c, vm, memory, chunk, continuation);
	if (!vm->kernel.chunks.is_wanted || !take_code(&c, vm, memory, continuation))
		return;
	c.chunk_class = number_of(vm, memory, chunk);
	vm->kernel.chunks = c;
}

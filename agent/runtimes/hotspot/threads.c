/* SPDX-License-Identifier: Apache-2.0 */
/* The list of threads, and the members that lead from a thread to its name and to what it compiles. */
#include "agent/runtimes/hotspot/threads.h"

#include <string.h>

#include "agent/runtimes/hotspot/continuations.h"
#include "agent/runtimes/hotspot/heap_objects.h"
#include "agent/runtimes/hotspot/memory_words.h"
#include "agent/runtimes/hotspot/vm_members.h"
#include "agent/util/macro.h"

/* The largest of these structures is a CompilerThread, with 2,300 bytes. */
#define MAX_OFFSET 8192

enum member {
	OS_THREAD,
	OS_THREAD_11,
	OS_THREAD_ID,
	THREAD_OBJECT,
	THREAD_NEXT,
	FIRST_THREAD,
	THREAD_LIST,
	LIST_LENGTH,
	LIST_THREADS,
	COMPILER_ENV,
	ENV_TASK,
	TASK_METHOD,
	TASK_TIER,
	HEAP,
	HEAP_IS_MOVING,
	HEAP_IS_MOVING_24,
	HEAP_MOVES,
	ZGC,
	ZGC_MASK_11,
	ZGC_MASK,
	ZGC_OLD,
	ZGC_OLD_MASK,
	NARROW_BASE_8,
	NARROW_BASE_11,
	NARROW_BASE,
	NARROW_SHIFT_8,
	NARROW_SHIFT_11,
	NARROW_SHIFT,
	CLASS_BASE_8,
	CLASS_BASE_11,
	CLASS_BASE,
	CLASS_SHIFT_8,
	CLASS_SHIFT_11,
	CLASS_SHIFT,
	KLASS_SUPER,
	KLASS_CONSTANTS,
	KLASS_FIELDS,
	KLASS_N_FIELDS,
	KLASS_FIELD_STREAM,
	KLASS_METHODS,
	KLASS_LAYOUT_HELPER,
	METHOD_CODE,
	BLOB_BYTES,
	THREAD_STATE,
	CLASSES,
	MEMBERS
};

/* Names have moved from one version to the next: the number is that of the first one with the later name. */
static const struct vm_member wanted[MEMBERS] = {
	[OS_THREAD] = { .type = "Thread", .field = "_osthread" },
	[OS_THREAD_11] = { .type = "JavaThread", .field = "_osthread" },
	[OS_THREAD_ID] = { .type = "OSThread", .field = "_thread_id" },
	[THREAD_OBJECT] = { .type = "JavaThread", .field = "_threadObj" },
	[THREAD_NEXT] = { .type = "JavaThread", .field = "_next" },
	[FIRST_THREAD] = { .type = "Threads", .field = "_thread_list" },
	[THREAD_LIST] = { .type = "ThreadsSMRSupport", .field = "_java_thread_list" },
	[LIST_LENGTH] = { .type = "ThreadsList", .field = "_length" },
	[LIST_THREADS] = { .type = "ThreadsList", .field = "_threads" },
	[COMPILER_ENV] = { .type = "CompilerThread", .field = "_env" },
	[ENV_TASK] = { .type = "ciEnv", .field = "_task" },
	[TASK_METHOD] = { .type = "CompileTask", .field = "_method" },
	[TASK_TIER] = { .type = "CompileTask", .field = "_comp_level" },
	[HEAP] = { .type = "Universe", .field = "_collectedHeap" },
	[HEAP_IS_MOVING] = { .type = "CollectedHeap", .field = "_is_gc_active" },
	[HEAP_IS_MOVING_24] = { .type = "CollectedHeap", .field = "_is_stw_gc_active" },
	[HEAP_MOVES] = { .type = "CollectedHeap", .field = "_total_collections" },
	[ZGC] = { .type = "ZGlobalsForVMStructs", .field = "_instance_p" },
	[ZGC_MASK_11] = { .type = "ZGlobalsForVMStructs", .field = "_ZAddressGoodMask" },
	[ZGC_MASK] = { .type = "ZGlobalsForVMStructs", .field = "_ZPointerLoadGoodMask" },
	[ZGC_OLD] = { .type = "XGlobalsForVMStructs", .field = "_instance_p" },
	[ZGC_OLD_MASK] = { .type = "XGlobalsForVMStructs", .field = "_XAddressGoodMask" },
	[NARROW_BASE_8] = { .type = "Universe", .field = "_narrow_oop._base" },
	[NARROW_BASE_11] = { .type = "CompressedOops", .field = "_narrow_oop._base" },
	[NARROW_BASE] = { .type = "CompressedOops", .field = "_base" },
	[NARROW_SHIFT_8] = { .type = "Universe", .field = "_narrow_oop._shift" },
	[NARROW_SHIFT_11] = { .type = "CompressedOops", .field = "_narrow_oop._shift" },
	[NARROW_SHIFT] = { .type = "CompressedOops", .field = "_shift" },
	[CLASS_BASE_8] = { .type = "Universe", .field = "_narrow_klass._base" },
	[CLASS_BASE_11] = { .type = "CompressedKlassPointers", .field = "_narrow_klass._base" },
	[CLASS_BASE] = { .type = "CompressedKlassPointers", .field = "_base" },
	[CLASS_SHIFT_8] = { .type = "Universe", .field = "_narrow_klass._shift" },
	[CLASS_SHIFT_11] = { .type = "CompressedKlassPointers", .field = "_narrow_klass._shift" },
	[CLASS_SHIFT] = { .type = "CompressedKlassPointers", .field = "_shift" },
	[KLASS_SUPER] = { .type = "Klass", .field = "_super" },
	[KLASS_CONSTANTS] = { .type = "InstanceKlass", .field = "_constants" },
	[KLASS_FIELDS] = { .type = "InstanceKlass", .field = "_fields" },
	[KLASS_N_FIELDS] = { .type = "InstanceKlass", .field = "_java_fields_count" },
	[KLASS_FIELD_STREAM] = { .type = "InstanceKlass", .field = "_fieldinfo_stream" },
	[KLASS_METHODS] = { .type = "InstanceKlass", .field = "_methods" },
	[KLASS_LAYOUT_HELPER] = { .type = "Klass", .field = "_layout_helper" },
	[METHOD_CODE] = { .type = "Method", .field = "_code" },
	[BLOB_BYTES] = { .type = "CodeBlob", .field = "_size" },
	[THREAD_STATE] = { .type = "JavaThread", .field = "_thread_state" },
	/* Some words of that table have entries; so much of their names is read, and the last one counts. */
	[CLASSES] = { .type = "vmClasses", .field = "_klasses[static_cast<int>(vmCla" },
};

/* HOTSPOT_THREAD_NONE: there is no such member. */
static uint16_t offset_of(const struct vm_member *members, enum member which)
{
	const struct vm_member *m = &members[which];

	return m->is_there && !m->is_static && m->at <= MAX_OFFSET ? (uint16_t)m->at
								   : HOTSPOT_THREAD_NONE;
}

static uint64_t address_of(const struct vm_member *members, enum member which)
{
	return members[which].is_there && members[which].is_static ? members[which].at : 0;
}

static uint16_t offset_of_either(const struct vm_member *members, enum member one,
				 enum member other)
{
	uint16_t offset = offset_of(members, one);

	return offset != HOTSPOT_THREAD_NONE ? offset : offset_of(members, other);
}

/* Of three successive names. */
static uint64_t address_of_any(const struct vm_member *members, enum member first)
{
	for (size_t i = 0; i < 3; i++)
		if (address_of(members, first + i))
			return address_of(members, first + i);
	return 0;
}

static void take_compiled(struct hotspot_threads *k, const struct vm_member *members)
{
	k->env = offset_of(members, COMPILER_ENV);
	k->task = offset_of(members, ENV_TASK);
	k->method = offset_of(members, TASK_METHOD);
	k->tier = offset_of(members, TASK_TIER);
	k->has_compiled = k->env != HOTSPOT_THREAD_NONE && k->task != HOTSPOT_THREAD_NONE &&
			  k->method != HOTSPOT_THREAD_NONE && k->tier != HOTSPOT_THREAD_NONE;
}

static bool take_list(struct hotspot_vm *vm, const struct vm_member *members)
{
	vm->list_at = address_of(members, THREAD_LIST);
	vm->is_linked = !vm->list_at;
	if (vm->is_linked) {
		vm->list_at = address_of(members, FIRST_THREAD);
		vm->next = offset_of(members, THREAD_NEXT);
		return vm->list_at && vm->next != HOTSPOT_THREAD_NONE;
	}
	vm->list_length = offset_of(members, LIST_LENGTH);
	vm->list_threads = offset_of(members, LIST_THREADS);
	return vm->list_length != HOTSPOT_THREAD_NONE && vm->list_threads != HOTSPOT_THREAD_NONE;
}

/* Whether the JVM has set the bits of this collector's references: it does so only when it is the one that runs. */
static bool has_mask(const struct vm_member *members, const struct runtime_memory *memory,
		     enum member instance, enum member mask)
{
	uint64_t at = address_of(members, instance);
	uint16_t offset = offset_of(members, mask);

	if (!at || offset == HOTSPOT_THREAD_NONE)
		return false;
	at = memory_u64(memory, memory_u64(memory, at) + offset);
	return at && memory_u64(memory, at);
}

static void take_heap(struct hotspot_vm *vm, const struct vm_member *members,
		      const struct runtime_memory *memory)
{
	vm->is_zgc = has_mask(members, memory, ZGC, ZGC_MASK_11) ||
		     has_mask(members, memory, ZGC, ZGC_MASK) ||
		     has_mask(members, memory, ZGC_OLD, ZGC_OLD_MASK);
	vm->heap_at = address_of(members, HEAP);
	vm->moving = offset_of_either(members, HEAP_IS_MOVING, HEAP_IS_MOVING_24);
	vm->moved = offset_of(members, HEAP_MOVES);
	vm->narrow_base_at = address_of_any(members, NARROW_BASE_8);
	vm->narrow_shift_at = address_of_any(members, NARROW_SHIFT_8);
	vm->class_base_at = address_of_any(members, CLASS_BASE_8);
	vm->class_shift_at = address_of_any(members, CLASS_SHIFT_8);
	vm->super = offset_of(members, KLASS_SUPER);
	vm->constants = offset_of(members, KLASS_CONSTANTS);
	vm->fields = offset_of(members, KLASS_FIELDS);
	vm->n_fields = offset_of(members, KLASS_N_FIELDS);
	vm->field_stream = offset_of(members, KLASS_FIELD_STREAM);
}

static void take_continuations(struct hotspot_vm *vm, const struct vm_member *members)
{
	vm->classes_at = address_of(members, CLASSES);
	vm->methods = offset_of(members, KLASS_METHODS);
	vm->method_code = offset_of(members, METHOD_CODE);
	vm->blob_bytes = offset_of(members, BLOB_BYTES);
	vm->layout_helper = offset_of(members, KLASS_LAYOUT_HELPER);
	vm->thread_state = offset_of(members, THREAD_STATE);
}

bool hotspot_vm_read(const struct hotspot_layout *layout, uint64_t table_at,
		     const struct runtime_memory *memory, struct hotspot_vm *ret_vm)
{
	struct vm_member members[MEMBERS];
	struct hotspot_threads *k = &ret_vm->kernel;

	*ret_vm = (struct hotspot_vm){ .layout = *layout };
	memcpy(members, wanted, sizeof(members));
	if (!vm_members_find(memory, table_at, members, MEMBERS))
		return false;
	k->os_thread = offset_of_either(members, OS_THREAD, OS_THREAD_11);
	k->thread_id = offset_of(members, OS_THREAD_ID);
	k->object = offset_of(members, THREAD_OBJECT);
	k->has_handles = strcmp(members[THREAD_OBJECT].of_type, "OopHandle") == 0;
	take_compiled(k, members);
	take_heap(ret_vm, members, memory);
	take_continuations(ret_vm, members);
	return take_list(ret_vm, members) && k->os_thread != HOTSPOT_THREAD_NONE &&
	       k->thread_id != HOTSPOT_THREAD_NONE;
}

/* Threads by their addresses, the one that was made first in front. A list that another thread changes meanwhile may be cut. */
static size_t read_array(const struct hotspot_vm *vm, const struct runtime_memory *memory,
			 uint64_t *to)
{
	uint64_t list = memory_u64(memory, vm->list_at);
	uint64_t array = memory_u64(memory, list + vm->list_threads);
	size_t n = memory_u32(memory, list + vm->list_length);

	n = MIN_OF(n, (size_t)HOTSPOT_MAX_THREADS);
	if (!list || !n || memory->read(memory->data, array, to, n * sizeof(*to)) < 0)
		return 0;
	return n;
}

/* It leads from the latest to the first. */
static size_t read_chain(const struct hotspot_vm *vm, const struct runtime_memory *memory,
			 uint64_t *to)
{
	uint64_t at = memory_u64(memory, vm->list_at);
	size_t n = 0;

	for (; at && n < HOTSPOT_MAX_THREADS; at = memory_u64(memory, at + vm->next))
		to[n++] = at;
	for (size_t i = 0; i < n / 2; i++) {
		uint64_t other = to[n - 1 - i];

		to[n - 1 - i] = to[i];
		to[i] = other;
	}
	return n;
}

static void find_names(struct hotspot_vm *vm, const struct runtime_memory *memory, uint64_t thread)
{
	uint64_t object;

	if (vm->kernel.has_names || vm->is_zgc || vm->kernel.object == HOTSPOT_THREAD_NONE)
		return;
	object = memory_u64(memory, thread + vm->kernel.object);
	if (vm->kernel.has_handles && object)
		object = memory_u64(memory, object);
	vm->kernel.has_names = object && heap_objects_find_names(vm, memory, object);
}

size_t hotspot_vm_threads(struct hotspot_vm *vm, const struct runtime_memory *memory,
			  struct hotspot_thread_id *ret_threads)
{
	uint64_t at[HOTSPOT_MAX_THREADS];
	size_t n_at = vm->is_linked ? read_chain(vm, memory, at) : read_array(vm, memory, at);
	uint64_t plain = n_at ? memory_u64(memory, at[0]) : 0;
	size_t n = 0;

	for (size_t i = 0; i < n_at; i++) {
		uint64_t os_thread = memory_u64(memory, at[i] + vm->kernel.os_thread);
		uint64_t class = memory_u64(memory, at[i]);
		uint32_t id = os_thread ? memory_u32(memory, os_thread + vm->kernel.thread_id) : 0;

		if (!id)
			continue;
		ret_threads[n++] = (struct hotspot_thread_id){
			.own_tid = id,
			.address = at[i],
			.class = class,
			.is_plain = class == plain,
		};
		find_names(vm, memory, at[i]);
	}
	hotspot_find_continuations(vm, memory);
	return n;
}

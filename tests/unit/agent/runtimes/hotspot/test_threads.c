/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of JVMs whose memory is made here: in the forms of JDK 8 and of JDK 25, and with anything in it. */
#include <errno.h>
#include <string.h>

#include "agent/runtimes/hotspot/threads.h"
#include "agent/runtimes/hotspot/vm_members.h"
#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define BASE 0x10000000ULL
#define IMAGE_BYTES (1 << 16)
#define CLASS_BASE BASE
#define FIRST_TID 100
#define THREADS 3

/* Offsets of the JVM that is made. */
enum {
	AT_VTABLE = 0,
	AT_NEXT = 8,
	AT_OS_THREAD = 16,
	AT_OBJECT = 24,
	AT_ENV = 32,
	AT_ID = 12,
	AT_NAME_OF_KLASS = 8,
	AT_SUPER = 16,
	AT_CONSTANTS = 24,
	AT_FIELDS = 32,
	AT_N_FIELDS = 40,
	AT_POOL_LENGTH = 8,
	POOL_BYTES = 16,
	AT_NAME = 20,
	AT_VALUE = 12,
	/* Where fields are that are not looked for. */
	OTHER_FIELD_8 = 200,
	OTHER_FIELD_25 = 180,
	/* Of classes whose objects are continuations, their methods, and code. */
	AT_METHODS = 48,
	AT_LAYOUT = 56,
	AT_CODE = 8,
	AT_BLOB_BYTES = 16,
	AT_CODE_OFFSET = 20,
	AT_STATE = 40,
	AT_TAIL = 24,
	AT_SP = 28,
	CHUNK_BYTES = 192,
	BLOB_BYTES = 400,
	CODE_OFFSET = 96,
};

struct jvm {
	char bytes[IMAGE_BYTES];
	size_t used;
	uint64_t table, table_end, threads[THREADS], moving;
	uint64_t chunk_class, methods, blobs[2];
	struct hotspot_layout layout;
	bool is_8;
};

static struct jvm jvm;

static int read_jvm(void *data, uint64_t addr, void *dst, size_t n)
{
	uint64_t off = addr - BASE;

	(void)data;
	if (off > IMAGE_BYTES || n > IMAGE_BYTES - off)
		return -EFAULT;
	memcpy(dst, jvm.bytes + off, n);
	return 0;
}

static const struct runtime_memory memory = { .read = read_jvm };

/* Room for n bytes, all 0. */
static uint64_t make(size_t n)
{
	uint64_t at = BASE + jvm.used;

	jvm.used += (n + 7) & ~(size_t)7;
	assert_true(jvm.used < IMAGE_BYTES / 2);
	return at;
}

static void put(uint64_t at, const void *bytes, size_t n)
{
	assert_true(at - BASE <= IMAGE_BYTES - n);
	memcpy(jvm.bytes + (at - BASE), bytes, n);
}

static void put_u64(uint64_t at, uint64_t value)
{
	put(at, &value, sizeof(value));
}

static void put_u32(uint64_t at, uint32_t value)
{
	put(at, &value, sizeof(value));
}

static void put_u16(uint64_t at, uint32_t value)
{
	const uint16_t word = (uint16_t)value;

	put(at, &word, sizeof(word));
}

static uint64_t make_text(const char *text)
{
	uint64_t at = make(strlen(text) + 1);

	put(at, text, strlen(text) + 1);
	return at;
}

static uint64_t make_symbol(const char *text)
{
	uint64_t at = make(8 + strlen(text));

	put_u16(at + 4, (uint32_t)strlen(text));
	put(at + 6, text, strlen(text));
	return at;
}

static void member(const char *type, const char *field, const char *of_type, bool is_static,
		   uint64_t at)
{
	struct hotspot_entry e = { .type_name = make_text(type),
				   .field_name = make_text(field),
				   .field_type = make_text(of_type),
				   .is_static = is_static,
				   .offset = is_static ? 0 : at,
				   .address = is_static ? at : 0 };

	put(jvm.table_end, &e, sizeof(e));
	jvm.table_end += sizeof(e);
}

static void offset(const char *type, const char *field, uint64_t at)
{
	member(type, field, "int", false, at);
}

/* A static member and the word that it is. */
static void address(const char *type, const char *field, uint64_t value)
{
	uint64_t at = make(8);

	put_u64(at, value);
	member(type, field, "int", true, at);
}

static void put_field_8(uint64_t fields, size_t n, uint32_t wanted, uint32_t at)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t f = fields + 4 + 12 * i;

		put_u16(f + 2, (uint32_t)i + 1);
		put_u16(f + 8, (i == wanted ? at : OTHER_FIELD_8) << 2 | 1);
	}
	put_u32(fields, (uint32_t)(6 * n));
}

/* Name, signature, offset, flags, flags: one byte each, or two. The first one has an initial value, too. */
static void put_field_25(uint64_t fields, size_t n, uint32_t wanted, uint32_t at)
{
	uint8_t bytes[64];
	size_t k = 0;

	bytes[k++] = (uint8_t)(n + 1);
	bytes[k++] = 1;
	for (size_t i = 0; i < n; i++) {
		bytes[k++] = (uint8_t)(i + 2);
		bytes[k++] = 1;
		bytes[k++] = (uint8_t)((i == wanted ? at : OTHER_FIELD_25) + 1);
		bytes[k++] = 255; /* a number of two bytes */
		bytes[k++] = 2;
		bytes[k++] = i == 0 ? 2 : 1;
		if (i == 0)
			bytes[k++] = 9;
	}
	put_u32(fields, (uint32_t)k);
	put(fields + 4, bytes, k);
}

/* A class with some fields, of which one is where it is. */
static uint64_t make_class(const char *name, const char *const *fields, size_t n, uint32_t wanted,
			   uint32_t at)
{
	uint64_t class = make(64), pool = make(POOL_BYTES + 8 * (n + 1)), table = make(128);

	put_u64(class + AT_NAME_OF_KLASS, make_symbol(name));
	put_u64(class + AT_CONSTANTS, pool);
	put_u64(class + AT_FIELDS, table);
	put_u16(class + AT_N_FIELDS, (uint32_t)n);
	put_u32(pool + AT_POOL_LENGTH, (uint32_t)n + 1);
	for (size_t i = 0; i < n; i++)
		put_u64(pool + POOL_BYTES + 8 * (i + 1), make_symbol(fields[i]));
	if (jvm.is_8)
		put_field_8(table, n, wanted, at);
	else
		put_field_25(table, n, wanted, at);
	return class;
}

static uint64_t make_object(uint64_t class, size_t n)
{
	uint64_t at = make(n);

	put_u32(at + 8, (uint32_t)((class - CLASS_BASE) >> 3));
	return at;
}

static uint32_t narrow(uint64_t object)
{
	return (uint32_t)((object - BASE) >> 3);
}

static uint64_t make_string(uint64_t string_class, uint64_t array_class)
{
	uint64_t array = make_object(array_class, 32), string = make_object(string_class, 24);

	put_u32(array + 12, 4);
	put(array + 16, "main", 4);
	put_u32(string + AT_VALUE, narrow(array));
	return string;
}

/* The objects of all threads are of a class that extends java.lang.Thread, and have one name. */
static uint64_t make_thread_object(void)
{
	static const char *const of_thread[] = { "eetop", "tid", "name" };
	static const char *const of_string[] = { "hash", "value", "coder" };
	uint64_t parent = make_class("java/lang/Thread", of_thread, 3, 2, AT_NAME);
	uint64_t class = make_class("a/Worker", of_thread, 1, 0, 200);
	uint64_t string_class =
		make_class("java/lang/String", of_string, jvm.is_8 ? 2 : 3, 1, AT_VALUE);
	uint64_t array_class = make_class(jvm.is_8 ? "[C" : "[B", of_string, 0, 0, 0);
	uint64_t object;

	put_u64(class + AT_SUPER, parent);
	object = make_object(class, 64);
	put_u32(object + AT_NAME, narrow(make_string(string_class, array_class)));
	return object;
}

static void make_threads(void)
{
	for (size_t i = 0; i < THREADS; i++) {
		uint64_t os_thread = make(32), handle = make(8);
		uint64_t object = make_thread_object();

		jvm.threads[i] = make(64);
		put_u64(jvm.threads[i] + AT_VTABLE, i == 2 ? 0x7000 : 0x6000);
		put_u64(jvm.threads[i] + AT_OS_THREAD, os_thread);
		put_u32(os_thread + AT_ID, FIRST_TID + (uint32_t)i);
		put_u64(handle, object);
		put_u64(jvm.threads[i] + AT_OBJECT, jvm.is_8 ? object : handle);
		if (i > 0)
			put_u64(jvm.threads[i] + AT_NEXT, jvm.threads[i - 1]);
	}
}

static void make_list(void)
{
	uint64_t list = make(24), array = make(8 * THREADS);

	if (jvm.is_8) {
		address("Threads", "_thread_list", jvm.threads[THREADS - 1]);
		return;
	}
	for (size_t i = 0; i < THREADS; i++)
		put_u64(array + 8 * i, jvm.threads[i]);
	put_u32(list + 4, THREADS);
	put_u64(list + 16, array);
	address("ThreadsSMRSupport", "_java_thread_list", list);
	offset("ThreadsList", "_length", 4);
	offset("ThreadsList", "_threads", 16);
}

static void make_members(void)
{
	uint64_t heap = make(64);

	offset("Thread", jvm.is_8 ? "_unused" : "_osthread", AT_OS_THREAD);
	offset("JavaThread", jvm.is_8 ? "_osthread" : "_unused", AT_OS_THREAD);
	offset("JavaThread", "_next", AT_NEXT);
	member("JavaThread", "_threadObj", jvm.is_8 ? "oop" : "OopHandle", false, AT_OBJECT);
	offset("OSThread", "_thread_id", AT_ID);
	offset("CompilerThread", "_env", AT_ENV);
	offset("ciEnv", "_task", 112);
	offset("CompileTask", "_method", 16);
	offset("CompileTask", "_comp_level", 48);
	address("Universe", "_collectedHeap", heap);
	offset("CollectedHeap", jvm.is_8 ? "_is_gc_active" : "_is_stw_gc_active", 8);
	offset("CollectedHeap", "_total_collections", 16);
	jvm.moving = heap + 8;
	address(jvm.is_8 ? "Universe" : "CompressedOops", jvm.is_8 ? "_narrow_oop._base" : "_base",
		BASE);
	address(jvm.is_8 ? "Universe" : "CompressedOops",
		jvm.is_8 ? "_narrow_oop._shift" : "_shift", 3);
	address(jvm.is_8 ? "Universe" : "CompressedKlassPointers",
		jvm.is_8 ? "_narrow_klass._base" : "_base", CLASS_BASE);
	address(jvm.is_8 ? "Universe" : "CompressedKlassPointers",
		jvm.is_8 ? "_narrow_klass._shift" : "_shift", 3);
	offset("Klass", "_super", AT_SUPER);
	offset("InstanceKlass", "_constants", AT_CONSTANTS);
	offset("InstanceKlass", jvm.is_8 ? "_fields" : "_fieldinfo_stream", AT_FIELDS);
	offset("InstanceKlass", jvm.is_8 ? "_java_fields_count" : "_unused", AT_N_FIELDS);
}

/* With names and code by the numbers that these have in the pool of their class. */
static void make_methods(uint64_t class)
{
	jvm.methods = make(32);
	put_u32(jvm.methods, 2);
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t method = make(32), constants = make(8);

		jvm.blobs[i] = make(32);
		put_u64(jvm.methods + 8 + 8 * i, method);
		put_u64(method, constants);
		put_u64(method + AT_CODE, jvm.blobs[i]);
		put_u16(constants, i + 2);
		put_u32(jvm.blobs[i] + AT_BLOB_BYTES, BLOB_BYTES);
		put_u32(jvm.blobs[i] + AT_CODE_OFFSET, CODE_OFFSET);
	}
	put_u64(class + AT_METHODS, jvm.methods);
}

/* In the table of classes, of which another one is a member that has an entry. */
static void make_continuations(void)
{
	static const char *const of_chunk[] = { "parent", "size", "sp", "bottom" };
	static const char *const of_continuation[] = { "tail", "doYield", "enterSpecial" };
	uint64_t table = make(64);
	uint64_t continuation =
		make_class("jdk/internal/vm/Continuation", of_continuation, 3, 0, AT_TAIL);

	jvm.chunk_class = make_class("jdk/internal/vm/StackChunk", of_chunk, 4, 2, AT_SP);
	put_u32(jvm.chunk_class + AT_LAYOUT, CHUNK_BYTES | 1);
	make_methods(continuation);
	put_u64(table, continuation);
	put_u64(table + 40, jvm.chunk_class);
	member("vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]",
	       "InstanceKlass*", true, table + 16);
	offset("InstanceKlass", "_methods", AT_METHODS);
	offset("Klass", "_layout_helper", AT_LAYOUT);
	offset("Method", "_code", AT_CODE);
	offset("CodeBlob", "_size", AT_BLOB_BYTES);
	offset("JavaThread", "_thread_state", AT_STATE);
	jvm.layout.at[HOTSPOT_BLOB_CODE] = HOTSPOT_NONE;
	jvm.layout.at[HOTSPOT_BLOB_CODE_OFFSET] = AT_CODE_OFFSET;
}

static void make_jvm(bool is_8)
{
	memset(&jvm, 0, sizeof(jvm));
	jvm.is_8 = is_8;
	jvm.used = 4096;
	jvm.table = jvm.table_end = BASE + IMAGE_BYTES / 2;
	jvm.layout.major = is_8 ? 8 : 25;
	jvm.layout.pool_bytes = POOL_BYTES;
	jvm.layout.at[HOTSPOT_KLASS_NAME] = AT_NAME_OF_KLASS;
	jvm.layout.at[HOTSPOT_POOL_LENGTH] = AT_POOL_LENGTH;
	jvm.layout.at[HOTSPOT_SYMBOL_LENGTH] = 4;
	jvm.layout.at[HOTSPOT_SYMBOL_BODY] = 6;
	make_threads();
	make_list();
	make_members();
}

static struct hotspot_thread_id found[HOTSPOT_MAX_THREADS];

static void test_threads(void **state)
{
	(void)state;
	for (int is_8 = 0; is_8 < 2; is_8++) {
		struct hotspot_vm vm;

		make_jvm(is_8);
		assert_true(hotspot_vm_read(&jvm.layout, jvm.table, &memory, &vm));
		assert_int_equal(vm.is_linked, is_8);
		assert_int_equal(vm.kernel.has_handles, !is_8);
		assert_int_equal(hotspot_vm_threads(&vm, &memory, found), THREADS);
		for (size_t i = 0; i < THREADS; i++) {
			assert_int_equal(found[i].own_tid, FIRST_TID + i);
			assert_int_equal(found[i].address, jvm.threads[i]);
			assert_int_equal(found[i].is_plain, i < 2);
		}
		assert_true(vm.kernel.has_compiled);
		assert_int_equal(vm.kernel.task, 112);
		assert_true(vm.kernel.has_names);
		assert_int_equal(vm.kernel.name, AT_NAME);
		assert_int_equal(vm.kernel.value, AT_VALUE);
		assert_int_equal(vm.kernel.coder, is_8 ? HOTSPOT_THREAD_NONE : OTHER_FIELD_25);
		assert_true(vm.kernel.is_narrow);
		assert_int_equal(vm.kernel.length, 12);
		assert_int_equal(vm.kernel.elements, 16);
		assert_int_equal(vm.kernel.moving_at, jvm.moving);
	}
}

/* While objects are moved nothing is found out of them, and later it is. */
static void test_moving(void **state)
{
	struct hotspot_vm vm;

	(void)state;
	make_jvm(false);
	put(jvm.moving, "\1", 1);
	assert_true(hotspot_vm_read(&jvm.layout, jvm.table, &memory, &vm));
	assert_int_equal(hotspot_vm_threads(&vm, &memory, found), THREADS);
	assert_false(vm.kernel.has_names);
	put(jvm.moving, "\0", 1);
	assert_int_equal(hotspot_vm_threads(&vm, &memory, found), THREADS);
	assert_true(vm.kernel.has_names);
}

static void test_zgc(void **state)
{
	uint64_t masks, mask;
	struct hotspot_vm vm;

	(void)state;
	make_jvm(false);
	masks = make(16);
	mask = make(8);
	put_u64(masks + 8, mask);
	address("ZGlobalsForVMStructs", "_instance_p", masks);
	offset("ZGlobalsForVMStructs", "_ZPointerLoadGoodMask", 8);
	assert_true(hotspot_vm_read(&jvm.layout, jvm.table, &memory, &vm));
	assert_false(vm.is_zgc);
	put_u64(mask, 0x1000);
	assert_true(hotspot_vm_read(&jvm.layout, jvm.table, &memory, &vm));
	assert_true(vm.is_zgc);
	assert_int_equal(hotspot_vm_threads(&vm, &memory, found), THREADS);
	assert_false(vm.kernel.has_names);
}

/* Something is missing: no list, no number of a thread, no table at all. */
static void test_not_told(void **state)
{
	struct hotspot_vm vm;

	(void)state;
	make_jvm(false);
	assert_false(hotspot_vm_read(&jvm.layout, 8, &memory, &vm));
	jvm.table_end -= sizeof(struct hotspot_entry);
	memset(jvm.bytes + (jvm.table - BASE), 0, sizeof(struct hotspot_entry));
	assert_false(hotspot_vm_read(&jvm.layout, jvm.table, &memory, &vm));
}

/* A list that leads back into itself ends, and so does one of more threads than there can be. */
static void test_circle(void **state)
{
	struct hotspot_vm vm;

	(void)state;
	make_jvm(true);
	put_u64(jvm.threads[0] + AT_NEXT, jvm.threads[2]);
	assert_true(hotspot_vm_read(&jvm.layout, jvm.table, &memory, &vm));
	assert_int_equal(hotspot_vm_threads(&vm, &memory, found), HOTSPOT_MAX_THREADS);
}

static struct hotspot_chunks chunks_of_jvm(void)
{
	struct hotspot_vm vm;

	assert_true(hotspot_vm_read(&jvm.layout, jvm.table, &memory, &vm));
	assert_int_equal(hotspot_vm_threads(&vm, &memory, found), THREADS);
	return vm.kernel.chunks;
}

static void test_continuations(void **state)
{
	struct hotspot_chunks c;

	(void)state;
	make_jvm(false);
	make_continuations();
	c = chunks_of_jvm();
	assert_int_equal(c.chunk_class, (jvm.chunk_class - CLASS_BASE) >> 3);
	assert_int_equal(c.yield_at, jvm.blobs[0] + CODE_OFFSET);
	assert_int_equal(c.enter_at, jvm.blobs[1] + CODE_OFFSET);
	assert_int_equal(c.yield_bytes, BLOB_BYTES - CODE_OFFSET);
	assert_int_equal(c.enter_bytes, BLOB_BYTES - CODE_OFFSET);
	assert_int_equal(c.tail, AT_TAIL);
	assert_int_equal(c.sp, AT_SP);
	assert_int_equal(c.bottom, OTHER_FIELD_25);
	assert_int_equal(c.stack, CHUNK_BYTES);
	assert_int_equal(c.thread_state, AT_STATE);
	assert_true(c.has_preemption);
	jvm.layout.major = 23;
	assert_false(chunks_of_jvm().has_preemption);
}

/* Before there is code they are asked for again; a JDK without virtual threads has none, nor one whose objects are laid out otherwise. */
static void test_no_continuations(void **state)
{
	(void)state;
	make_jvm(false);
	assert_false(chunks_of_jvm().is_wanted);
	make_continuations();
	put_u32(jvm.blobs[1] + AT_CODE_OFFSET, BLOB_BYTES);
	assert_int_equal(chunks_of_jvm().chunk_class, 0);
	assert_true(chunks_of_jvm().is_wanted);
	put_u32(jvm.blobs[1] + AT_CODE_OFFSET, CODE_OFFSET);
	put_u32(jvm.methods, 1);
	assert_int_equal(chunks_of_jvm().chunk_class, 0);
	put_u32(jvm.methods, 2);
	put_u32(jvm.chunk_class + AT_LAYOUT, AT_SP);
	assert_int_equal(chunks_of_jvm().chunk_class, 0);
	put_u32(jvm.chunk_class + AT_LAYOUT, CHUNK_BYTES);
	jvm.layout.major = 20;
	assert_int_equal(chunks_of_jvm().chunk_class, 0);
	assert_false(chunks_of_jvm().is_wanted);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Whatever the memory holds: it ends, reads nothing of its own beyond what is there, and has no more threads than there can be. */
static void test_anything(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct hotspot_vm vm;

		make_jvm(round & 1);
		if (!jvm.is_8)
			make_continuations();
		for (int i = 0; i < 12; i++)
			jvm.bytes[4096 + next_random(&seed) % (jvm.used - 4096)] =
				(char)next_random(&seed);
		if (hotspot_vm_read(&jvm.layout, jvm.table, &memory, &vm))
			assert_in_range(hotspot_vm_threads(&vm, &memory, found), 0,
					HOTSPOT_MAX_THREADS);
	}
}

static const struct unit_test tests[] = {
	TEST(test_threads),	  TEST(test_moving),	       TEST(test_zgc),
	TEST(test_not_told),	  TEST(test_circle),	       TEST(test_anything),
	TEST(test_continuations), TEST(test_no_continuations),
};

TEST_MAIN(tests)

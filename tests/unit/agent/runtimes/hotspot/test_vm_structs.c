/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of libraries that are made as libjvm.so is: whole, with other words in them, and with tables that lie nowhere. */
#include <errno.h>
#include <string.h>

#include "agent/runtimes/hotspot/layout.h"
#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

/* What is first defined by a row: NAME, the type that is looked for in the third place; END; MAJOR; POINTER; BYTES. */
static const char source[] =
	"typedef unsigned long u64; static u64 heaps, low, high; static int major = MAJOR, "
	"security = 15;\n"
	"struct entry { const char *t, *f, *ts; int s; u64 o; void *a; };\n"
	"struct type { const char *n, *s; int f[3]; u64 b; };\n"
	"#define S(t, f, v) { t, f, \"address\", 1, 0, &v },\n"
	"#define O(t, f, o) { t, f, \"int\", 0, o, 0 },\n"
	"static struct entry structs[] = {\n"
	"O(\"Other\", \"_name\", 7) S(\"CodeCache\", \"_heaps\", heaps) S(\"CodeCache\", "
	"\"_low_bound\", low)\n"
	"S(\"CodeCache\", \"_high_bound\", high) S(\"Abstract_VM_Version\", \"_vm_major_version\", "
	"major)\n"
	"S(\"Abstract_VM_Version\", \"_vm_security_version\", security) O(\"GrowableArrayBase\", "
	"\"_len\", 0)\n"
	"O(\"GrowableArray<int>\", \"_data\", 8) O(\"CodeHeap\", \"_memory\", 8) O(\"CodeHeap\", "
	"\"_segmap\", 120)\n"
	"O(\"CodeHeap\", \"_log2_segment_size\", 8) O(\"VirtualSpace\", \"_low\", 16) "
	"O(\"VirtualSpace\", \"_high\", 24)\n"
	"END O(\"CodeBlob\", \"_name\", 96) O(\"CodeBlob\", \"_frame_size\", 28)\n"
	"{ \"CodeBlob\", \"_frame_complete_offset\", COMPLETE, 0, 20, 0 }, O(\"CodeBlob\", "
	"\"_code_begin\", 32)\n"
	"O(\"CompiledMethod\", \"_method\", 112) O(\"Method\", \"_constMethod\", 8) "
	"O(\"ConstMethod\", \"_constants\", 8)\n"
	"O(\"ConstMethod\", \"_code_size\", 32) O(\"ConstMethod\", \"_name_index\", 34) "
	"O(\"ConstMethod\", NAME, 36)\n"
	"O(\"ConstMethod\", \"_method_idnum\", 38) O(\"ConstantPool\", \"_pool_holder\", 24)\n"
	"O(\"ConstantPool\", \"_length\", 60) O(\"Klass\", \"_name\", 24) O(\"Symbol\", "
	"\"_length\", 4)\n"
	"O(\"Symbol\", \"_body[0]\", 6) O(\"JavaThread\", \"_anchor\", 656) { 0 } };\n"
	"static struct type types[] = { { \"ConstMethod\", 0, { 0 }, BYTES }, { \"ConstantPool\", "
	"0, { 0 }, 72 },\n"
	"{ \"HeapBlock\", 0, { 0 }, 16 }, { 0 } };\n"
	"struct entry *gHotSpotVMStructs = POINTER; struct type *gHotSpotVMTypes = types;\n";

#define DEFAULTS                                                                        \
	"-DMAJOR=17 -DEND= -DPOINTER=structs -DBYTES=48 -DNAME='\"_signature_index\"' " \
	"-DCOMPLETE='\"int\"' "

struct row {
	const char *name;
	const char *defines; /* of the compiler; the last one of a name holds */
	bool is_found;
	bool is_known;
	uint8_t major;
};

static const struct row rows[] = {
	{ "whole", "", true, true, 17 },
	{ "another version", "-UMAJOR -DMAJOR=28", true, false, 28 },
	{ "a version that is none", "-UMAJOR -DMAJOR=256", true, false, 0 },
	{ "a field of another name", "-UNAME -DNAME='\"_signature_indey\"'", true, false, 17 },
	{ "a name that has no end", "-UNAME -DNAME='(const char *)structs'", true, false, 17 },
	{ "a name that lies nowhere", "-UNAME -DNAME='(const char *)0x7fffffffffff'", true, false,
	  17 },
	{ "an end in the middle", "-UEND -DEND='{ 0 },'", true, false, 17 },
	{ "a large structure", "-UBYTES -DBYTES=0x100000030", true, false, 17 },
	{ "no table", "-UPOINTER -DPOINTER=0", true, false, 0 },
	{ "a table that lies nowhere", "-UPOINTER -DPOINTER='(void *)-8'", true, false, 0 },
	{ "a table of other bytes", "-UPOINTER -DPOINTER='(void *)&heaps - 64'", true, false, 0 },
	{ "no symbol", "-DgHotSpotVMTypes=other", false, false, 0 },
};

/* False: it could not be compiled. */
static bool make(const struct fixture_dir *dir, const char *defines)
{
	char command[1024];

	(void)snprintf(command, sizeof(command),
		       "gcc -w -shared -fPIC -nostdlib " DEFAULTS "%s -o lib t.c", defines);
	return fixture_write(dir, "t.c", source) && fixture_run(dir, command);
}

static void read_file(const struct fixture_dir *dir, bool is_found,
		      struct hotspot_layout *ret_layout, struct hotspot_more *ret_more)
{
	char path[FIXTURE_PATH_BYTES];
	struct fixture_elf file;

	assert_int_equal(fixture_elf_open(fixture_path(dir, "lib", path), &file), 0);
	assert_int_equal(elf_load_sections(file.elf), 0);
	assert_int_equal(hotspot_file_read(file.elf, ret_layout, ret_more), is_found);
	fixture_elf_close(&file);
}

static void test_row(void **state)
{
	const struct row *row = *state;
	struct fixture_dir dir;
	struct hotspot_layout l;
	struct hotspot_more more;

	assert_true(fixture_dir_init(&dir));
	assert_true(make(&dir, row->defines));
	read_file(&dir, row->is_found, &l, &more);
	fixture_dir_fini(&dir);
	assert_int_equal(l.major, row->major);
	assert_int_equal(hotspot_layout_is_known(&l), row->is_known);
}

static void test_entries(void **state)
{
	struct fixture_dir dir;
	struct hotspot_layout l;
	struct hotspot_more more;

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(make(&dir, "-UCOMPLETE -DCOMPLETE='\"int16_t\"'"));
	read_file(&dir, true, &l, &more);
	fixture_dir_fini(&dir);
	assert_int_equal(l.security, 15);
	assert_int_equal(l.const_bytes, 48);
	assert_int_equal(l.pool_bytes, 72);
	assert_int_equal(l.block_bytes, 16);
	assert_true(l.has_short_complete);
	assert_int_equal(l.at[HOTSPOT_HEAPS], 1);
	assert_int_equal(l.at[HOTSPOT_HEAP], HOTSPOT_NONE);
	assert_int_equal(l.at[HOTSPOT_ARRAY_LENGTH_16], 6);
	assert_int_equal(l.at[HOTSPOT_SYMBOL_BODY], 28);
	assert_int_equal(more.at[HOTSPOT_THREAD_ANCHOR], 29);
	assert_int_equal(more.at[HOTSPOT_THREADS], HOTSPOT_NONE);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
	TEST(test_entries),
};

TEST_MAIN(tests)

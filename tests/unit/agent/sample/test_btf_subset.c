/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of type information: made and judged by libbpf, which reads them later. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/btf_subset.h"
#include "agent/sample/btf_view.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define MAX_BYTES ((size_t)1 << 20)

static struct str raw_of(const struct btf *btf)
{
	uint32_t n = 0;
	const void *raw = btf__raw_data(btf, &n);

	assert_non_null(raw);
	return (struct str){ raw, n };
}

static uint32_t added(int id)
{
	assert_true(id > 0);
	return (uint32_t)id;
}

#define FIELD(btf, name, type, bit, bits) \
	assert_int_equal(btf__add_field((btf), (name), (int)(type), (bit), (bits)), 0)

/* What a kernel may have: everything that can lie in `task`, and what is not to come along. */
static struct btf *make_kernel(void)
{
	struct btf *b = btf__new_empty();

	assert_non_null(b);
	uint32_t i32 = added(btf__add_int(b, "int", 4, BTF_INT_SIGNED));
	uint32_t u64 = added(btf__add_int(b, "unsigned long", 8, 0));
	uint32_t f64 = added(btf__add_float(b, "double", 8));
	uint32_t index = added(btf__add_int(b, "size_type", 8, 0));

	uint32_t other = added(btf__add_struct(b, "other", 8));
	FIELD(b, "secret", u64, 0, 0);
	uint32_t ptr = added(btf__add_ptr(b, (int)other));

	uint32_t word = added(btf__add_typedef(b, "word_t", (int)u64));
	uint32_t qualified = added(btf__add_const(
		b, btf__add_volatile(
			   b, btf__add_restrict(b, btf__add_type_tag(b, "user", (int)word)))));
	uint32_t inner = added(btf__add_struct(b, "inner", 16));
	FIELD(b, "a", qualified, 0, 0);
	FIELD(b, "next", ptr, 64, 0);
	uint32_t pair = added(btf__add_array(b, (int)index, (int)inner, 2));
	uint32_t choice = added(btf__add_union(b, NULL, 8));
	FIELD(b, "real", f64, 0, 0);
	FIELD(b, "whole", u64, 0, 0);
	uint32_t small = added(btf__add_enum(b, "small", 4));
	assert_int_equal(btf__add_enum_value(b, "SMALL_ONE", 1), 0);
	uint32_t large = added(btf__add_enum64(b, "large", 8, false));
	assert_int_equal(btf__add_enum64_value(b, "LARGE_ONE", 1ULL << 40), 0);
	added(btf__add_fwd(b, "ahead", BTF_FWD_STRUCT));
	uint32_t nothing = added(btf__add_ptr(b, 0));

	added(btf__add_struct(b, "task", 72));
	FIELD(b, "pair", pair, 0, 0);
	FIELD(b, NULL, choice, 256, 0);
	FIELD(b, "small", small, 320, 0);
	FIELD(b, "flag", i32, 352, 3);
	FIELD(b, "large", large, 384, 0);
	FIELD(b, "other", ptr, 448, 0);
	FIELD(b, "anything", nothing, 512, 0);
	/* What is behind the members is of no interest. */
	uint32_t proto = added(btf__add_func_proto(b, (int)i32));
	assert_int_equal(btf__add_func_param(b, "x", (int)u64), 0);
	added(btf__add_func(b, "do_something", BTF_FUNC_STATIC, (int)proto));
	added(btf__add_var(b, "something", BTF_VAR_STATIC, (int)i32));
	added(btf__add_datasec(b, ".data", 4));
	added(btf__add_decl_tag(b, "kfunc", (int)other, -1));
	added(btf__add_typedef(b, "callback_t", (int)proto));
	return b;
}

/* An object with one structure of that name. */
static struct btf *make_object(const char *name)
{
	struct btf *b = btf__new_empty();

	assert_non_null(b);
	added(btf__add_int(b, "int", 4, BTF_INT_SIGNED));
	added(btf__add_struct(b, name, 4));
	FIELD(b, "flag", 1, 0, 3);
	return b;
}

/* The part that an object with a structure of that name needs, read by libbpf. */
static struct btf *subset_of(const struct btf *kernel, const char *name)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
	struct btf *object = make_object(name);

	assert_int_equal(btf_subset(raw_of(kernel), raw_of(object), &out), 0);
	btf__free(object);
	struct btf *part = btf__new(out.data, (uint32_t)out.len);
	assert_non_null(part);
	return part;
}

static void assert_same_type(const struct btf *a, uint32_t id_a, const struct btf *b,
			     uint32_t id_b);

static void assert_same_name(const struct btf *a, uint32_t off_a, const struct btf *b,
			     uint32_t off_b)
{
	assert_string_equal(btf__name_by_offset(a, off_a), btf__name_by_offset(b, off_b));
}

static void assert_same_members(const struct btf *a, const struct btf_type *x, const struct btf *b,
				const struct btf_type *y)
{
	const struct btf_member *m = btf_members(x);
	const struct btf_member *n = btf_members(y);

	for (uint32_t i = 0; i < btf_vlen(x); i++) {
		assert_same_name(a, m[i].name_off, b, n[i].name_off);
		assert_int_equal(m[i].offset, n[i].offset);
		assert_same_type(a, m[i].type, b, n[i].type);
	}
}

static void assert_same_values(const struct btf *a, const struct btf_type *x, const struct btf *b,
			       const struct btf_type *y)
{
	for (uint32_t i = 0; i < btf_vlen(x); i++) {
		if (btf_is_enum(x)) {
			assert_same_name(a, btf_enum(x)[i].name_off, b, btf_enum(y)[i].name_off);
			assert_int_equal(btf_enum(x)[i].val, btf_enum(y)[i].val);
		} else {
			assert_same_name(a, btf_enum64(x)[i].name_off, b,
					 btf_enum64(y)[i].name_off);
			assert_int_equal(btf_enum64_value(&btf_enum64(x)[i]),
					 btf_enum64_value(&btf_enum64(y)[i]));
		}
	}
}

/* The whole tree below a type of `a`, without what pointers point to. */
static void assert_same_type(const struct btf *a, uint32_t id_a, const struct btf *b, uint32_t id_b)
{
	const struct btf_type *x = btf__type_by_id(a, id_a);
	const struct btf_type *y = btf__type_by_id(b, id_b);

	assert_non_null(x);
	assert_non_null(y);
	assert_int_equal(x->info, y->info);
	assert_same_name(a, x->name_off, b, y->name_off);
	if (btf_is_ptr(x)) {
		assert_int_equal(y->type, 0);
	} else if (btf_is_composite(x)) {
		assert_int_equal(x->size, y->size);
		assert_same_members(a, x, b, y);
	} else if (btf_is_any_enum(x)) {
		assert_int_equal(x->size, y->size);
		assert_same_values(a, x, b, y);
	} else if (btf_is_array(x)) {
		assert_int_equal(btf_array(x)->nelems, btf_array(y)->nelems);
		assert_same_type(a, btf_array(x)->type, b, btf_array(y)->type);
		assert_same_type(a, btf_array(x)->index_type, b, btf_array(y)->index_type);
	} else if (btf_is_int(x)) {
		assert_int_equal(x->size, y->size);
		assert_int_equal(*(const uint32_t *)(x + 1), *(const uint32_t *)(y + 1));
	} else if (btf_is_float(x)) {
		assert_int_equal(x->size, y->size);
	} else {
		assert_same_type(a, x->type, b, y->type);
	}
}

static void test_everything_in_it(void **state)
{
	struct btf *kernel = make_kernel();
	struct btf *part = subset_of(kernel, "task");
	int from = btf__find_by_name_kind(kernel, "task", BTF_KIND_STRUCT);
	int to = btf__find_by_name_kind(part, "task", BTF_KIND_STRUCT);

	(void)state;
	assert_same_type(kernel, added(from), part, added(to));
	assert_int_equal(btf__resolve_size(part, added(to)), 72);
	btf__free(part);
	btf__free(kernel);
}

static void test_nothing_else(void **state)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} absent[] = { { "other", BTF_KIND_STRUCT },
		       { "ahead", BTF_KIND_FWD },
		       { "callback_t", BTF_KIND_TYPEDEF },
		       { "do_something", BTF_KIND_FUNC },
		       { "something", BTF_KIND_VAR } };
	struct btf *kernel = make_kernel();
	struct btf *part = subset_of(kernel, "task");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		assert_true(btf__find_by_name_kind(part, absent[i].name, absent[i].kind) < 0);
	assert_true(btf__type_cnt(part) < btf__type_cnt(kernel));
	btf__free(part);
	btf__free(kernel);
}

/* Each kind that an object may name, and how it may name it. */
static void test_names(void **state)
{
	static const char *const names[] = { "other",  "other___flavour", "small", "large",
					     "word_t", "callback_t",	  "inner" };
	struct btf *kernel = make_kernel();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		btf__free(subset_of(kernel, names[i]));
	btf__free(kernel);
}

static void test_no_name_in_common(void **state)
{
	static const char *const names[] = { "stranger", "tas",	    "task_struct", "ahead",
					     "int",	 "___task", "do_something" };
	struct btf *kernel = make_kernel();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
		struct btf *object = make_object(names[i]);

		assert_int_equal(btf_subset(raw_of(kernel), raw_of(object), &out), -ENOENT);
		btf__free(object);
	}
	btf__free(kernel);
}

static void test_ceiling(void **state)
{
	struct btf *kernel = make_kernel();
	struct btf *object = make_object("task");
	int r = -ENOBUFS;
	size_t n = 1;

	(void)state;
	for (; r == -ENOBUFS && n < 4096; n++) {
		_cleanup_buf_ struct buf out = BUF_INIT(n);

		r = btf_subset(raw_of(kernel), raw_of(object), &out);
	}
	assert_int_equal(r, 0);
	assert_true(n > 500);
	btf__free(object);
	btf__free(kernel);
}

/* ---- what is no type information ---- */

/* The smallest kernel: `struct task { int; }`, and the same as the object. */
struct small {
	struct btf_header header;
	struct btf_type integer;
	uint32_t encoding;
	struct btf_type task;
	struct btf_member member;
	char names[8];
};

static struct small make_small(void)
{
	return (struct small){
		.header = { .magic = BTF_MAGIC,
			    .version = BTF_VERSION,
			    .hdr_len = sizeof(struct btf_header),
			    .type_len = offsetof(struct small, names) - sizeof(struct btf_header),
			    .str_off = offsetof(struct small, names) - sizeof(struct btf_header),
			    .str_len = 8 },
		.integer = { .name_off = 6, .info = BTF_KIND_INT << 24, .size = 4 },
		.encoding = 32,
		.task = { .name_off = 1, .info = BTF_KIND_STRUCT << 24 | 1, .size = 4 },
		.member = { .name_off = 0, .type = 1 },
		.names = "\0task\0i",
	};
}

static int subset_of_small(const struct small *kernel, size_t n_bytes)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_BYTES);
	struct small object = make_small();
	/* Of exactly this size, so that no byte behind it is read unseen. */
	_cleanup_free_ char *bytes = malloc(n_bytes ? n_bytes : 1);

	assert_non_null(bytes);
	memcpy(bytes, kernel, n_bytes);
	return btf_subset((struct str){ bytes, n_bytes },
			  (struct str){ (const char *)&object, sizeof(object) }, &out);
}

static void test_small(void **state)
{
	struct small s = make_small();

	(void)state;
	assert_int_equal(subset_of_small(&s, sizeof(s)), 0);
}

static void test_cut_anywhere(void **state)
{
	struct small s = make_small();

	(void)state;
	for (size_t n = 0; n < sizeof(s); n++)
		assert_int_equal(subset_of_small(&s, n), -EBADMSG);
}

#define BAD(field, value)                                                                      \
	{                                                                                      \
		offsetof(struct small, field), sizeof(((struct small *)NULL)->field), (value), \
			#field " = " #value                                                    \
	}

static const struct bad {
	size_t at;
	size_t n;
	uint64_t value;
	const char *what;
} bad_rows[] = {
	BAD(header.magic, 0x9feb),
	BAD(header.version, 2),
	BAD(header.hdr_len, 20),
	BAD(header.hdr_len, 26),
	BAD(header.hdr_len, UINT32_MAX - 3),
	BAD(header.type_off, 2),
	BAD(header.type_off, UINT32_MAX - 3),
	BAD(header.type_len, 1000),
	BAD(header.type_len, 14),
	BAD(header.type_len, 39),
	BAD(header.str_off, 1000),
	BAD(header.str_len, 0),
	BAD(header.str_len, 7 - 2),
	BAD(header.str_len, UINT32_MAX),
	BAD(task.info, BTF_KIND_STRUCT << 24 | 2),
	BAD(task.info, BTF_KIND_STRUCT << 24 | 0xffff),
	BAD(task.name_off, 8),
	BAD(member.type, 3),
	BAD(member.type, UINT32_MAX),
	BAD(member.name_off, 8),
	BAD(member.name_off, UINT32_MAX),
	BAD(integer.name_off, 8),
};

static void test_bad(void **state)
{
	const struct bad *row = *state;
	struct small s = make_small();

	memcpy((char *)&s + row->at, &row->value, row->n);
	assert_int_equal(subset_of_small(&s, sizeof(s)), -EBADMSG);
}

/* A later kernel may have kinds whose length nobody knows. */
static void test_unknown_kind(void **state)
{
	struct small s = make_small();

	(void)state;
	for (uint32_t kind = BTF_KIND_MAX + 1; kind < 32; kind++) {
		s.integer.info = kind << 24;
		assert_int_equal(subset_of_small(&s, sizeof(s)), -ENOTSUP);
	}
	s.integer.info = BTF_KIND_UNKN << 24;
	assert_int_equal(subset_of_small(&s, sizeof(s)), -ENOTSUP);
}

/* Nothing that lies in a structure. */
static void test_wrong_part(void **state)
{
	struct small s = make_small();

	(void)state;
	s.integer.info = BTF_KIND_VAR << 24;
	assert_int_equal(subset_of_small(&s, sizeof(s)), -EBADMSG);
}

static void test_type_in_itself(void **state)
{
	struct small s = make_small();

	(void)state;
	s.member.type = 2;
	assert_int_equal(subset_of_small(&s, sizeof(s)), 0);
}

static const struct unit_test tests[] = {
	TEST(test_everything_in_it),
	TEST(test_nothing_else),
	TEST(test_names),
	TEST(test_no_name_in_common),
	TEST(test_ceiling),
	TEST(test_small),
	TEST(test_cut_anywhere),
	TEST(test_unknown_kind),
	TEST(test_wrong_part),
	TEST(test_type_in_itself),
	TEST_ROWS(test_bad, bad_rows, what),
};

TEST_MAIN(tests)

/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that walk another task's memory share the variables of the others: the same names at the same places. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/sample.skel.h"
#include "bpf/waiting.skel.h"
#include "tests/support/unit.h"

static const struct btf_type *section(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_DATASEC);

	assert_true(id > 0);
	return btf__type_by_id(btf, (uint32_t)id);
}

static const char *name_of(const struct btf *btf, const struct btf_var_secinfo *variable)
{
	return btf__name_by_offset(btf, btf__type_by_id(btf, variable->type)->name_off);
}

static void same_section(const struct btf *a, const struct btf *b, const char *name)
{
	const struct btf_type *one = section(a, name), *other = section(b, name);
	const struct btf_var_secinfo *mine = btf_var_secinfos(one);
	const struct btf_var_secinfo *theirs = btf_var_secinfos(other);

	assert_true(btf_vlen(one) > 3);
	assert_int_equal(btf_vlen(one), btf_vlen(other));
	for (int i = 0; i < btf_vlen(one); i++) {
		assert_string_equal(name_of(a, &mine[i]), name_of(b, &theirs[i]));
		assert_int_equal(mine[i].offset, theirs[i].offset);
		assert_int_equal(mine[i].size, theirs[i].size);
	}
}

static void test_variables(void **state)
{
	struct sample_bpf *sample = sample_bpf__open();
	struct waiting_bpf *waiting = waiting_bpf__open();

	(void)state;
	assert_non_null(sample);
	assert_non_null(waiting);
	const struct btf *a = bpf_object__btf(sample->obj), *b = bpf_object__btf(waiting->obj);
	same_section(a, b, ".rodata");
	same_section(a, b, ".bss");
	sample_bpf__destroy(sample);
	waiting_bpf__destroy(waiting);
}

/* Each map of the one is there in the other, and as large an entry. */
static void test_maps(void **state)
{
	struct sample_bpf *sample = sample_bpf__open();
	struct waiting_bpf *waiting = waiting_bpf__open();
	struct bpf_map *map;

	(void)state;
	assert_non_null(sample);
	assert_non_null(waiting);
	bpf_object__for_each_map (map, waiting->obj) {
		const struct bpf_map *of =
			bpf_object__find_map_by_name(sample->obj, bpf_map__name(map));

		if (bpf_map__is_internal(map))
			continue;
		assert_non_null(of);
		assert_int_equal(bpf_map__type(map), bpf_map__type(of));
		assert_int_equal(bpf_map__key_size(map), bpf_map__key_size(of));
		assert_int_equal(bpf_map__value_size(map), bpf_map__value_size(of));
	}
	sample_bpf__destroy(sample);
	waiting_bpf__destroy(waiting);
}

static const struct unit_test tests[] = {
	TEST(test_variables),
	TEST(test_maps),
};

TEST_MAIN(tests)

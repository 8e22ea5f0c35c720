/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation on the way from a text or an answer to targets fails once: the answer is -ENOMEM and nothing leaks. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "agent/discovery/dns_targets.h"
#include "agent/discovery/target_groups.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/unit.h"

/* What jansson takes comes from here, so that it can fail. */
static void *take(size_t n)
{
	return malloc(n);
}

static void give(void *p)
{
	free(p);
}

static int read_list(struct str text, enum target_groups_format format)
{
	static const struct label origin = { "from", "f" };
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	return target_groups_read(text, format, &origin, &why, &list);
}

static int read_json(void)
{
	return read_list(STR_LIT("[{\"targets\":[\"a\",\"b\"],\"labels\":{\"x\":\"y\"}},{}]"),
			 TARGET_GROUPS_JSON);
}

static int read_yaml(void)
{
	return read_list(STR_LIT("- &d\n  targets: [a, ~x]\n  labels: &l {x: y, z: ~}\n"
				 "- <<: *d\n  labels: *l\n"),
			 TARGET_GROUPS_YAML);
}

static int read_answer(void)
{
	static const char bytes[] = "\0\0\x81\x80\0\1\0\2\0\0\0\0\1a\1b\0\0\2\0\1"
				    "\xc0\x0c\0\2\0\1\0\0\0\1\0\2\xc0\x0c"
				    "\xc0\x0c\0\2\0\1\0\0\0\1\0\2\xc0\x0e";
	struct dns_targets_options options = { .type = DNS_NS, .port = 1 };
	_cleanup_target_list_ struct target_list list = { 0 };
	_cleanup_dns_answer_ struct dns_answer answer = { 0 };
	int r = dns_answer_read(DNS_NS, bytes, sizeof(bytes) - 1, &answer);

	return r == 0 ? dns_targets_of_answer(&options, "a.b", &answer, &list) : r;
}

static const struct alloc_case {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "JSON", read_json },
	{ "YAML", read_yaml },
	{ "DNS", read_answer },
};

static void test_case(void **state)
{
	const struct alloc_case *c = *state;
	size_t nth = 0;

	for (;;) {
		alloc_fail_arm(++nth);
		int r = c->run();
		bool failed = alloc_fail_disarm();

		/* jansson takes some for mistakes in the text. */
		if (!failed || c->run != read_json || r != -EINVAL)
			assert_int_equal(r, failed ? -ENOMEM : 0);
		if (!failed)
			break;
	}
	assert_true(nth > 4);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_case, cases, name),
};

int main(void)
{
	json_set_alloc_funcs(take, give);
	return RUN_TESTS(tests);
}

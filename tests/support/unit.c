/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "tests/unit/agent/cli/profile/test_command.c" is "agent/cli/profile/command". */
static void name_group(const char *path, char *name, size_t size)
{
	static const char root[] = "tests/unit/", prefix[] = "test_";
	const char *below = strstr(path, root);
	const char *dir = below ? below + strlen(root) : path;
	const char *slash = strrchr(dir, '/');
	const char *file = slash ? slash + 1 : dir;
	int n_dir = (int)(file - dir);

	if (strncmp(file, prefix, strlen(prefix)) == 0)
		file += strlen(prefix);
	(void)snprintf(name, size, "%.*s%.*s", n_dir, dir, (int)strcspn(file, "."), file);
}

static size_t n_of(const struct unit_test *t)
{
	return t->rows ? t->n_rows : 1;
}

static struct CMUnitTest nth_of(const struct unit_test *t, size_t i)
{
	struct CMUnitTest test = { t->name, t->run, t->setup, t->teardown, NULL };

	if (!t->rows)
		return test;
	test.name = *(const char *const *)((const char *)t->row_names + i * t->row_bytes);
	if (test.name[0] == '\0')
		test.name = "(empty)";
	test.initial_state = (char *)t->rows + i * t->row_bytes;
	return test;
}

int unit_run(const char *path, const struct unit_test *tests, size_t n_tests,
	     CMFixtureFunction setup, CMFixtureFunction teardown)
{
	char name[256];
	struct CMUnitTest *all;
	size_t n_all = 0, n = 0;
	int n_failed;

	for (size_t i = 0; i < n_tests; i++)
		n_all += n_of(&tests[i]);
	all = calloc(n_all, sizeof(*all));
	if (!all)
		abort();
	for (size_t i = 0; i < n_tests; i++)
		for (size_t k = 0; k < n_of(&tests[i]); k++)
			all[n++] = nth_of(&tests[i], k);
	name_group(path, name, sizeof(name));
	n_failed = _cmocka_run_group_tests(name, all, n_all, setup, teardown);
	free(all);
	return n_failed;
}

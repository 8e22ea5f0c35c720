/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of a test's own, and two files in it. */
#ifndef XAGENT_TESTS_UNIT_AGENT_CLI_PLACE_H
#define XAGENT_TESTS_UNIT_AGENT_CLI_PLACE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/util/file.h"
#include "tests/support/unit.h"

struct place {
	char directory[64];
	char file[96];
	char second[96];
};

static inline int place_setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	(void)snprintf(p->directory, sizeof(p->directory), "/tmp/xagent-test-XXXXXX");
	if (!mkdtemp(p->directory))
		return -1;
	(void)snprintf(p->file, sizeof(p->file), "%s/file", p->directory);
	(void)snprintf(p->second, sizeof(p->second), "%s/file.2", p->directory);
	*state = p;
	return 0;
}

/* rmdir fails, and so does the test, when more was written than these. */
static inline int place_teardown(void **state)
{
	struct place *p = *state;
	int r;

	(void)unlink(p->file);
	(void)unlink(p->second);
	r = rmdir(p->directory);
	free(p);
	return r;
}

static inline void assert_content(const char *path, const char *expected)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	assert_int_equal(file_read(AT_FDCWD, path, &b), 0);
	assert_string_equal(buf_str(&b), expected);
}

#endif

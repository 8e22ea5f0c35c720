/* SPDX-License-Identifier: Apache-2.0 */
/* A directory that looks like a host's root, for tests. */
#ifndef XAGENT_TESTS_UNIT_AGENT_TARGET_FAKE_ROOT_H
#define XAGENT_TESTS_UNIT_AGENT_TARGET_FAKE_ROOT_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

struct fake_root {
	char path[64];
};

static inline void fake_root_init(struct fake_root *r)
{
	temp_dir_make(r->path);
}

static inline void fake_root_fini(struct fake_root *r)
{
	(void)temp_dir_remove(r->path);
}

static inline const char *fake_root_path(const struct fake_root *r, const char *path)
{
	static char full[PATH_MAX];

	(void)snprintf(full, sizeof(full), "%s%s", r->path, path);
	return full;
}

/* Every directory above the last '/'. */
static inline void fake_root_dirs(const struct fake_root *r, const char *path)
{
	char full[PATH_MAX];
	size_t root = strlen(r->path);

	(void)snprintf(full, sizeof(full), "%s%s", r->path, path);
	for (char *p = full + root + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
}

/* As runtimes do it: another file by that name, by rename. */
static inline void fake_root_write(const struct fake_root *r, const char *path, const char *text)
{
	char full[PATH_MAX], next[PATH_MAX + 8];

	fake_root_dirs(r, path);
	(void)snprintf(full, sizeof(full), "%s%s", r->path, path);
	(void)snprintf(next, sizeof(next), "%s.next", full);
	int fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
	assert_int_equal(rename(next, full), 0);
}

#endif

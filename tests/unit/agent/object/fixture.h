/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made while a test runs, in a directory that goes with it. */
#ifndef XAGENT_TESTS_UNIT_OBJECT_FIXTURE_H
#define XAGENT_TESTS_UNIT_OBJECT_FIXTURE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/object/elf.h"

#define FIXTURE_PATH_BYTES 512

struct fixture_dir {
	char path[64];
};

static inline bool fixture_dir_init(struct fixture_dir *dir)
{
	(void)snprintf(dir->path, sizeof(dir->path), "/tmp/xagent-test-XXXXXX");
	return mkdtemp(dir->path) != NULL;
}

/* Runs a command in the directory; true when it succeeds. Its words go to no one: a missing tool is
 * told by the caller. */
static inline bool fixture_run(const struct fixture_dir *dir, const char *command)
{
	char line[2048];
	int n = snprintf(line, sizeof(line), "cd %s && { %s; } >/dev/null 2>&1", dir->path,
			 command);

	return n > 0 && (size_t)n < sizeof(line) && system(line) == 0;
}

static inline void fixture_dir_fini(struct fixture_dir *dir)
{
	char line[128];

	(void)snprintf(line, sizeof(line), "rm -rf %s", dir->path);
	if (system(line) != 0)
		(void)fprintf(stderr, "%s stays behind\n", dir->path);
}

static inline const char *fixture_path(const struct fixture_dir *dir, const char *name,
				       char buffer[FIXTURE_PATH_BYTES])
{
	(void)snprintf(buffer, FIXTURE_PATH_BYTES, "%s/%s", dir->path, name);
	return buffer;
}

static inline bool fixture_write(const struct fixture_dir *dir, const char *name, const char *text)
{
	char path[FIXTURE_PATH_BYTES];
	FILE *f = fopen(fixture_path(dir, name, path), "we");

	if (!f)
		return false;
	bool ok = fputs(text, f) >= 0;
	return fclose(f) == 0 && ok;
}

/* An open file and its headers. */
struct fixture_elf {
	int fd;
	struct elf *elf;
};

static inline int fixture_elf_open(const char *path, struct fixture_elf *ret_file)
{
	struct bytes bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int r = bytes_from_fd(fd, &bytes);
	if (r == 0)
		r = elf_new(bytes, &ret_file->elf);
	if (r != 0)
		(void)close(fd);
	else
		ret_file->fd = fd;
	return r;
}

static inline void fixture_elf_close(struct fixture_elf *file)
{
	elf_free(file->elf);
	(void)close(file->fd);
}

/* One hexadecimal number out of a command's output; 0 when there is none. */
static inline uint64_t fixture_hex(const struct fixture_dir *dir, const char *command)
{
	char line[2048];
	unsigned long long value = 0;

	(void)snprintf(line, sizeof(line), "cd %s && %s", dir->path, command);
	FILE *f = popen(line, "re");
	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	(void)pclose(f);
	value = strtoull(line, NULL, 16);
	return value;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of fetched debug files. */
#include "agent/symbol/debuginfod_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/object/build_id.h"
#include "agent/symbol/debuginfod.h"

/* An agent that was killed leaves this behind; the next one writes over it. */
#define NEW_NAME ".xagent.new"
/* As large as build ids are that ld --build-id=0x… takes; 8 hex digits are the least that tools accept. */
#define MIN_ID_CHARS 8
#define NAME_BYTES (NAME_MAX + sizeof("/debuginfo"))
/* Of a directory, looked at for what to remove. */
#define MAX_CACHED ((size_t)100000)

DEFINE_CLEANUP(DIR *, closedir);

bool debuginfod_is_build_id(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return text[n] == '\0' && n >= MIN_ID_CHARS && n <= 2 * BUILD_ID_MAX_BYTES && n % 2 == 0;
}

int debuginfod_default_dir(struct buf *ret_dir)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (xdg && xdg[0] == '/')
		return buf_printf(ret_dir, "%s/xagent/debuginfod", xdg);
	if (home && home[0] == '/' && home[1])
		return buf_printf(ret_dir, "%s/.cache/xagent/debuginfod", home);
	return buf_append_str(ret_dir, "/var/cache/xagent/debuginfod");
}

int debuginfod_cache_open(const char *path, int *ret_dir_fd)
{
	char part[PATH_MAX];
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof(part))
		return -EINVAL;
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
			return -errno;
	}
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_dir_fd = fd;
	return 0;
}

/* A file may have been cut short or be another's: what does not match is as good as none. */
static bool is_right(int fd, const char *build_id)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct build_id id = { 0 };
	struct bytes bytes;

	return bytes_from_fd(fd, &bytes) == 0 && elf_new(bytes, &elf) == 0 &&
	       build_id_read(elf, &id) == 0 && strcmp(id.gnu, build_id) == 0;
}

static void file_name(const char *build_id, char name[NAME_BYTES])
{
	(void)snprintf(name, NAME_BYTES, "%s/debuginfo", build_id);
}

int debuginfod_cache_get(int dir_fd, const char *build_id, int *ret_fd)
{
	char name[NAME_BYTES];

	file_name(build_id, name);
	_cleanup_close_ int fd =
		openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || !is_right(fd, build_id))
		return DEBUGINFOD_NONE;
	/* Its time is when it was last of use. */
	(void)futimens(fd, NULL);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int debuginfod_cache_begin(int dir_fd, int *ret_fd)
{
	debuginfod_cache_abort(dir_fd);
	int fd = openat(dir_fd, NEW_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

void debuginfod_cache_abort(int dir_fd)
{
	(void)unlinkat(dir_fd, NEW_NAME, 0);
}

int debuginfod_cache_commit(int dir_fd, int fd, const char *build_id)
{
	char name[NAME_BYTES];
	int r = 0;

	file_name(build_id, name);
	if (!is_right(fd, build_id))
		r = DEBUGINFOD_NONE;
	else if (mkdirat(dir_fd, build_id, 0755) < 0 && errno != EEXIST)
		r = -errno;
	else if (renameat(dir_fd, NEW_NAME, dir_fd, name) < 0)
		r = -errno;
	if (r != 0)
		debuginfod_cache_abort(dir_fd);
	return r;
}

struct oldest {
	uint64_t total_bytes;
	struct timespec used;
	char build_id[NAME_MAX + 1]; /* "": there is none */
};

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static void look_at(int dir_fd, const char *build_id, struct oldest *o)
{
	char name[NAME_BYTES];
	struct stat st;

	if (!debuginfod_is_build_id(build_id))
		return;
	file_name(build_id, name);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	o->total_bytes += (uint64_t)st.st_size;
	if (o->build_id[0] && !is_before(&st.st_mtim, &o->used))
		return;
	o->used = st.st_mtim;
	(void)snprintf(o->build_id, sizeof(o->build_id), "%s", build_id);
}

static bool find_oldest(int dir_fd, struct oldest *ret)
{
	struct oldest o = { 0 };
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir)
		return false;
	for (size_t n = 0; n < MAX_CACHED && (entry = readdir(dir)); n++)
		look_at(dir_fd, entry->d_name, &o);
	*ret = o;
	return o.build_id[0] != '\0';
}

void debuginfod_cache_trim(int dir_fd, uint64_t max_bytes)
{
	char name[NAME_BYTES];
	struct oldest o;

	while (find_oldest(dir_fd, &o) && o.total_bytes > max_bytes) {
		file_name(o.build_id, name);
		if (unlinkat(dir_fd, name, 0) < 0)
			return;
		(void)unlinkat(dir_fd, o.build_id, AT_REMOVEDIR);
	}
}

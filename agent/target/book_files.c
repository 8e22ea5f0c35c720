/* SPDX-License-Identifier: Apache-2.0 */
/* The container book's way to a host's files. */
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/target/container_book_private.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"

/* Some 60 bytes a user; hosts with more users than that ask a directory service. */
#define PASSWD_MAX_BYTES ((size_t)1 << 20)

/* Who runs in a container, but sees the host's processes, sees its files through the first of them (with CAP_SYS_PTRACE). −1: they are
 * ours, or not to be seen. */
static int open_root_of_init(void)
{
	struct stat ours, theirs;

	if (stat("/", &ours) < 0 || stat("/proc/1/root/", &theirs) < 0 ||
	    (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino))
		return -1;
	return open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Before Linux 5.6 links that are absolute lead out of the root: nothing is found there, or the same file of this host. */
static int open_below(int root_fd, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned int)flags,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		return openat(root_fd, path + 1, flags);
	return (int)fd;
}

int book_open(const struct book_files *files, const char *path, int flags)
{
	flags |= O_CLOEXEC;
	if (!files->here && files->root_fd < 0)
		return -ENOENT;
	int fd = files->here ? open(path, flags) : open_below(files->root_fd, path, flags);
	return fd < 0 ? -errno : fd;
}

void book_files_init(struct book_files *files, const char *root)
{
	files->root_fd =
		root[0] ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : open_root_of_init();
	files->here = !root[0] && files->root_fd < 0;
	files->proc_fd = root[0] ? book_open(files, "/proc", O_PATH | O_DIRECTORY)
				 : open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void book_files_fini(struct book_files *files)
{
	cleanup_close_p(&files->root_fd);
	cleanup_close_p(&files->proc_fd);
	files->root_fd = files->proc_fd = -1;
}

static uint64_t timespec_ns(struct timespec ts)
{
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static struct book_stamp stamp_from(const struct stat *st)
{
	return (struct book_stamp){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = timespec_ns(st->st_mtim),
		.ctime_ns = timespec_ns(st->st_ctim),
	};
}

struct book_stamp book_stamp(const struct book_files *files, const char *path)
{
	struct stat st;

	if (files->here)
		return stat(path, &st) == 0 ? stamp_from(&st) : (struct book_stamp){ 0 };
	_cleanup_close_ int fd = book_open(files, path, O_PATH);
	return fd >= 0 && fstat(fd, &st) == 0 ? stamp_from(&st) : (struct book_stamp){ 0 };
}

bool book_stamp_equal(const struct book_stamp *a, const struct book_stamp *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

int book_read(const struct book_files *files, const char *path, struct buf *out,
	      struct book_stamp *ret_stamp)
{
	_cleanup_close_ int fd = book_open(files, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	int r = file_read_fd(fd, out);
	if (r < 0)
		return r;
	*ret_stamp = stamp_from(&st);
	return 0;
}

DIR *book_list(const struct book_files *files, const char *path)
{
	int fd = book_open(files, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		(void)close(fd);
	return dir;
}

/* Line = name ":" password ":" uid ":" gid ":" comment ":" home ":" shell */
static bool home_of_line(struct str line, uint32_t uid, char ret_home[static PATH_MAX])
{
	struct str field[6];
	uint64_t number;

	for (size_t i = 0; i < 6; i++)
		if (!str_split(&line, ':', &field[i]))
			return false;
	if (str_parse_u64(field[2], 10, UINT32_MAX, &number) < 0 || number != uid)
		return false;
	if (field[5].n < 2 || field[5].p[0] != '/' || field[5].n >= PATH_MAX)
		return false;
	memcpy(ret_home, field[5].p, field[5].n);
	ret_home[field[5].n] = '\0';
	return true;
}

/* The file and not the name service: that may wait for a network, and is another host's when the root is mounted. */
bool book_home(const struct book_files *files, uint32_t uid, char ret_home[static PATH_MAX])
{
	_cleanup_buf_ struct buf b = BUF_INIT(PASSWD_MAX_BYTES);
	struct book_stamp stamp;
	struct str line;

	if (book_read(files, "/etc/passwd", &b, &stamp) < 0)
		return false;
	struct str text = { buf_str(&b), b.len };
	while (str_split(&text, '\n', &line))
		if (home_of_line(line, uid, ret_home))
			return true;
	return false;
}

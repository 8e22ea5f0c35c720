/* SPDX-License-Identifier: Apache-2.0 */
/* The container metadata's way to a host's files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/target/container_metadata_private.h"
#include "agent/util/clock.h"
#include "agent/util/foreign_file.h"
#include "agent/util/reader.h"

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

void metadata_files_init(struct metadata_files *files, const char *root)
{
	*files = (struct metadata_files){ .root_fd = -1, .proc_fd = -1 };
	files->root_fd =
		root[0] ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : open_root_of_init();
	files->here = !root[0] && files->root_fd < 0;
	if (files->here)
		files->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	files->proc_fd = root[0] ? foreign_path(files->root_fd, "/proc", FOREIGN_DIRECTORY)
				 : open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void metadata_files_fini(struct metadata_files *files)
{
	cleanup_close_p(&files->root_fd);
	cleanup_close_p(&files->proc_fd);
	files->root_fd = files->proc_fd = -1;
}

static uint64_t timespec_ns(struct timespec ts)
{
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static struct metadata_stamp stamp_from(const struct stat *st)
{
	return (struct metadata_stamp){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = timespec_ns(st->st_mtim),
		.ctime_ns = timespec_ns(st->st_ctim),
	};
}

bool metadata_stamp_equal(const struct metadata_stamp *a, const struct metadata_stamp *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* What is wanted of a path. */
enum wish { WISH_STAMP, WISH_BYTES, WISH_NAMES };

/* All that it looks at is its own. */
struct path_call {
	struct reader_call call;
	enum wish wish;
	int root_fd; /* owned */
	char *path;  /* owned */
	struct buf out;
	struct metadata_stamp stamp;
	int result;
};

static int read_names(int root_fd, const char *path, struct buf *out)
{
	_cleanup_close_ int path_fd = foreign_path(root_fd, path, FOREIGN_DIRECTORY);
	int fd = path_fd < 0 ? path_fd : openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;
	int r = 0;

	if (fd >= 0 && !dir)
		(void)close(fd);
	if (!dir)
		return -ENOENT;
	for (size_t n = 0; r == 0 && n < METADATA_LIST_MAX && (d = readdir(dir)); n++)
		r = buf_append(out, d->d_name, strlen(d->d_name) + 1);
	return r == -ENOBUFS ? 0 : r;
}

static int look_at(int root_fd, const char *path, enum wish wish, struct buf *out,
		   struct metadata_stamp *ret_stamp)
{
	struct stat st = { 0 };
	int r = -ENOENT;

	if (wish == WISH_NAMES)
		return read_names(root_fd, path, out);
	if (wish == WISH_BYTES) {
		r = foreign_read(root_fd, path, out, &st);
	} else {
		_cleanup_close_ int fd = foreign_path(root_fd, path, 0);

		r = fd < 0 ? fd : foreign_stat(fd, &st);
	}
	if (r == 0)
		*ret_stamp = stamp_from(&st);
	return r;
}

static void path_run(struct reader_call *call)
{
	struct path_call *c = CONTAINER_OF(call, struct path_call, call);

	c->result = look_at(c->root_fd, c->path, c->wish, &c->out, &c->stamp);
}

static void path_free(struct reader_call *call)
{
	struct path_call *c = CONTAINER_OF(call, struct path_call, call);

	if (c->root_fd >= 0)
		(void)close(c->root_fd);
	free(c->path);
	buf_fini(&c->out);
	free(c);
}

static int look_by_reader(const struct metadata_files *files, const char *path, enum wish wish,
			  struct buf *out, struct metadata_stamp *ret_stamp)
{
	struct reader_subject subject = { .reason = READER_record, .pid = files->pid };
	struct path_call *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*c = (struct path_call){
		.call = { .run = path_run, .free = path_free },
		.wish = wish,
		.root_fd = fcntl(files->root_fd, F_DUPFD_CLOEXEC, 0),
		.path = strdup(path),
		.out = BUF_INIT(out ? out->max_bytes : 0),
	};
	if (!c->path) {
		path_free(&c->call);
		return -ENOMEM;
	}
	int r = reader_run(&c->call, &subject);
	if (r < 0)
		return r;
	r = c->result;
	if (r == 0 && out) {
		buf_fini(out);
		*out = c->out;
		c->out = BUF_INIT(0);
	}
	if (r == 0)
		*ret_stamp = c->stamp;
	path_free(&c->call);
	return r;
}

static int look_into(const struct metadata_files *files, const char *path, enum wish wish,
		     struct buf *out, struct metadata_stamp *ret_stamp)
{
	if (files->root_fd < 0)
		return -ENOENT;
	return files->is_foreign ? look_by_reader(files, path, wish, out, ret_stamp)
				 : look_at(files->root_fd, path, wish, out, ret_stamp);
}

struct metadata_stamp metadata_stamp(const struct metadata_files *files, const char *path)
{
	struct metadata_stamp stamp = { 0 };

	(void)look_into(files, path, WISH_STAMP, NULL, &stamp);
	return stamp;
}

int metadata_read(const struct metadata_files *files, const char *path, struct buf *out,
		  struct metadata_stamp *ret_stamp)
{
	return look_into(files, path, WISH_BYTES, out, ret_stamp);
}

int metadata_names(const struct metadata_files *files, const char *path, struct buf *out)
{
	struct metadata_stamp none;

	return look_into(files, path, WISH_NAMES, out, &none);
}

struct metadata_files metadata_files_foreign(const struct metadata_files *files, uint32_t pid)
{
	struct metadata_files foreign = *files;

	foreign.is_foreign = true;
	foreign.pid = pid;
	return foreign;
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
bool metadata_home(const struct metadata_files *files, uint32_t uid, char ret_home[static PATH_MAX])
{
	_cleanup_buf_ struct buf b = BUF_INIT(PASSWD_MAX_BYTES);
	struct metadata_stamp stamp;
	struct str line;

	if (metadata_read(files, "/etc/passwd", &b, &stamp) < 0)
		return false;
	struct str text = { buf_str(&b), b.len };
	while (str_split(&text, '\n', &line))
		if (home_of_line(line, uid, ret_home))
			return true;
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process writes the names of the code that it generates. */
#include "agent/process/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/process/process_private.h"
#include "agent/util/clock.h"
#include "agent/util/foreign_file.h"
#include "agent/util/reader.h"

/* Start times are rounded to ticks, times of files to those of the kernel's timer. */
#define START_SLACK_NS (50 * NS_PER_MS)

struct jit_files *jit_files_ref(struct jit_files *j)
{
	j->n_refs++;
	return j;
}

void jit_files_unref(struct jit_files *j)
{
	if (!j || --j->n_refs > 0)
		return;
	if (j->table) {
		j->table->n_jit_files--;
		list_remove(&j->all);
	}
	reader_close(j->map_fd);
	reader_close(j->dump_fd);
	free(j);
}

static struct str after(struct str line, size_t n)
{
	return str_trim((struct str){ line.p + n, line.n - n });
}

/* Numbers with white space between them. */
static uint32_t scan_numbers(struct str s, uint32_t *numbers, uint32_t max)
{
	uint64_t value;
	uint32_t n = 0;

	while (n < max && str_scan_u64(&s, 10, UINT32_MAX, &value) == 0) {
		numbers[n++] = (uint32_t)value;
		s = str_trim(s);
	}
	return n;
}

int jit_owner_parse(struct str status, uint32_t pid, struct jit_owner *ret_owner)
{
	struct jit_owner o = { 0 };
	uint32_t n_uids = 0;
	struct str line;

	while (str_split(&status, '\n', &line)) {
		if (str_starts_with(line, STR_LIT("Uid:")))
			n_uids = scan_numbers(after(line, 4), o.uids, 4);
		else if (str_starts_with(line, STR_LIT("NSpid:")))
			o.n_pids = scan_numbers(after(line, 6), o.pids, JIT_OWNER_MAX_PIDS);
	}
	if (n_uids != 4)
		return -EINVAL;
	if (o.n_pids == 0)
		o.pids[o.n_pids++] = pid;
	*ret_owner = o;
	return 0;
}

bool jit_owner_is_dump(const struct jit_owner *o, struct str path)
{
	struct str name = str_basename(path);
	uint64_t pid;

	if (!str_starts_with(name, STR_LIT("jit-")) || !str_ends_with(name, STR_LIT(".dump")) ||
	    name.n < 9 ||
	    str_parse_u64((struct str){ name.p + 4, name.n - 9 }, 10, UINT32_MAX, &pid) < 0)
		return false;
	for (uint32_t i = 0; i < o->n_pids; i++)
		if (o->pids[i] == pid)
			return true;
	return false;
}

/* Not later than the process started, in the time that files are stamped with. */
static uint64_t started_real_ns(const struct process *p)
{
	struct timespec boot;
	uint64_t mono = clock_mono_ns();

	(void)clock_gettime(CLOCK_BOOTTIME, &boot);
	uint64_t since_boot = (uint64_t)boot.tv_sec * NS_PER_S + (uint64_t)boot.tv_nsec;
	uint64_t suspended = since_boot > mono ? since_boot - mono : 0;
	uint64_t age = (mono > p->start_ns ? mono - p->start_ns : 0) + suspended + START_SLACK_NS;
	uint64_t now = clock_real_ns();
	return now > age ? now - age : 0;
}

/* All that the search for a perf map looks at is its own. */
struct map_call {
	struct reader_call call;
	int dir_fd;   /* of /proc, of who has the root; owned */
	uint32_t pid; /* in the process's own pid namespace */
	uint32_t uid;
	uint64_t started_ns;
	int fd; /* owned; −1: there is none */
	struct file_key key;
	bool tells_at_once;
};

/*
 * Written by the process's own user and by nobody else: files of root count for root's processes only, another name of somebody's file
 * (a hard link) does not, and what all may write to is nobody's word.
 */
static bool is_own(const struct stat *st, const struct map_call *c)
{
	uint64_t written = (uint64_t)st->st_mtim.tv_sec * NS_PER_S + (uint64_t)st->st_mtim.tv_nsec;

	/* One that an earlier process of the same pid has left is older. */
	return S_ISREG(st->st_mode) && st->st_uid == c->uid && st->st_nlink == 1 &&
	       !(st->st_mode & S_IWOTH) && written >= c->started_ns;
}

/*
 * /tmp may be a link or a mount of the process's own mount namespace, through which its root is seen. What is below is there itself: no
 * link, and no file that was mounted from elsewhere. An O_PATH descriptor or -errno.
 */
static int find_map(int root_fd, uint32_t pid)
{
	_cleanup_close_ int tmp_fd = foreign_path(root_fd, "tmp", FOREIGN_DIRECTORY);
	char name[32];

	(void)snprintf(name, sizeof(name), "perf-%u.map", pid);
	return tmp_fd < 0 ? tmp_fd
			  : foreign_path(tmp_fd, name, FOREIGN_NO_SYMLINKS | FOREIGN_NO_MOUNTS);
}

static void map_run(struct reader_call *call)
{
	struct map_call *c = CONTAINER_OF(call, struct map_call, call);
	_cleanup_close_ int root_fd = openat(c->dir_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int path_fd = root_fd < 0 ? -1 : find_map(root_fd, c->pid);
	struct stat st;

	if (path_fd < 0 || foreign_stat(path_fd, &st) < 0 || !is_own(&st, c))
		return;
	int fd = foreign_reopen(path_fd, 0);
	if (fd < 0)
		return;
	c->fd = fd;
	c->key = (struct file_key){ st.st_dev, st.st_ino };
	c->tells_at_once = reader_tells_at_once(fd);
}

static void map_free(struct reader_call *call)
{
	struct map_call *c = CONTAINER_OF(call, struct map_call, call);

	if (c->dir_fd >= 0)
		(void)close(c->dir_fd);
	reader_close(c->fd);
	free(c);
}

/* `proc` is of the process that has the root. */
static void open_map(const struct proc *proc, const struct process *p, const struct jit_owner *o,
		     struct jit_files *j)
{
	struct reader_subject subject = { .reason = READER_names,
					  .pid = proc->pid,
					  .start = proc->start_ticks };
	struct map_call *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	*c = (struct map_call){
		.call = { .run = map_run, .free = map_free },
		.dir_fd = fcntl(proc->live_fd, F_DUPFD_CLOEXEC, 0),
		.pid = o->pids[o->n_pids - 1],
		.uid = o->uids[JIT_UID_FILES],
		.started_ns = started_real_ns(p),
		.fd = -1,
	};
	if (reader_run(&c->call, &subject) < 0)
		return;
	if (c->fd >= 0 && !c->tells_at_once)
		reader_blame_device(c->key.dev, proc->pid);
	j->map_fd = TAKE_FD(c->fd);
	j->map = c->key;
	map_free(&c->call);
}

static void open_dump(struct process_table *t, struct process *p, const struct jit_owner *o,
		      struct jit_files *j)
{
	for (uint32_t i = 0; p->mappings && i < p->mappings->n && j->dump_fd < 0; i++) {
		struct mapped_file *f = p->mappings->items[i].file;

		if (!f || !jit_owner_is_dump(o, str_from(f->path)) ||
		    process_open_file(t, p, f) < 0)
			continue;
		j->dump_fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
		j->dump = f->key;
	}
}

static int read_owner(const struct proc *proc, struct jit_owner *ret_owner)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PROC_STATUS_MAX);
	int r = proc_read_file(proc, "status", &b);

	return r < 0 ? r
		     : jit_owner_parse((struct str){ buf_str(&b), b.len }, proc->pid, ret_owner);
}

/* Of `p` itself while it lives. */
static int find_alive(struct process_table *t, struct process *p, struct proc *ret_proc,
		      struct jit_owner *ret_owner)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;

	if (p->exited)
		return -ESRCH;
	int r = proc_open(t->proc_root, p->pid, &proc);
	if (r == 0 && !process_confirm(p, &proc))
		r = -ESRCH;
	if (r == 0)
		r = read_owner(&proc, ret_owner);
	if (r < 0)
		return r;
	*ret_proc = proc;
	proc = PROC_NONE;
	return 0;
}

/* The root of who forked it. Which pid it had inside of a pid namespace nobody knows any more: only where there is none is it ours. */
static int find_parent(struct process_table *t, struct process *p, struct proc *ret_proc,
		       struct jit_owner *ret_owner)
{
	struct process *parent = process_parent(t, p);
	uint32_t uid = process_identity(t, p)->euid;
	struct jit_owner o;

	if (!parent)
		return -ESRCH;
	_cleanup_proc_ struct proc proc = PROC_NONE;
	int r = find_alive(t, parent, &proc, &o);
	if (r < 0)
		return r;
	if (o.n_pids != 1)
		return -ESRCH;
	*ret_owner = (struct jit_owner){ { p->pid }, 1, { uid, uid, uid, uid } };
	*ret_proc = proc;
	proc = PROC_NONE;
	return 0;
}

static int files_new(struct process_table *t, struct jit_files **ret_files)
{
	struct jit_files *j = t->n_jit_files < JIT_FILES_MAX ? calloc(1, sizeof(*j)) : NULL;

	if (!j && t->n_jit_files < JIT_FILES_MAX)
		return -ENOMEM;
	if (!j) {
		telemetry_count(t->telemetry, TELEMETRY_files_open_errors, 1);
		return -EMFILE;
	}
	*j = (struct jit_files){ .n_refs = 1, .map_fd = -1, .dump_fd = -1, .table = t };
	list_push_back(&t->jit_files, &j->all);
	t->n_jit_files++;
	*ret_files = j;
	return 0;
}

void process_release_jit_files(struct process_table *t)
{
	LIST_FOREACH (&t->jit_files, node) {
		LIST_ENTRY(node, struct jit_files, all)->table = NULL;
		list_remove(node);
	}
}

int jit_files_open(struct process_table *t, struct process *p, struct jit_files **ret_files)
{
	_cleanup_(jit_files_unrefp) struct jit_files *j = NULL;
	_cleanup_proc_ struct proc proc = PROC_NONE;
	struct jit_owner owner;
	int r = files_new(t, &j);

	if (r < 0)
		return r;
	process_touch(t, p);
	r = find_alive(t, p, &proc, &owner);
	if (r == -ESRCH || r == -ENOENT)
		r = find_parent(t, p, &proc, &owner);
	if (r < 0)
		return r;
	open_map(&proc, p, &owner, j);
	open_dump(t, p, &owner, j);
	if (j->map_fd < 0 && j->dump_fd < 0)
		return JIT_FILES_NONE;
	*ret_files = TAKE_PTR(j);
	return 0;
}

int jit_files_wait(struct process_table *t, struct jit_files **ret_files)
{
	return t->n_jit_files < JIT_FILES_MAX / 2 ? files_new(t, ret_files) : JIT_FILES_NONE;
}

bool jit_files_arrive(struct process_table *t, struct process *p, struct jit_files *waiting)
{
	_cleanup_(jit_files_unrefp) struct jit_files *now = NULL;

	if (jit_files_open(t, p, &now) != 0)
		return false;
	waiting->map = now->map;
	waiting->dump = now->dump;
	waiting->map_fd = TAKE_FD(now->map_fd);
	waiting->dump_fd = TAKE_FD(now->dump_fd);
	return true;
}

struct jit_moment jit_files_moment(const struct jit_files *j, uint64_t now_ns)
{
	struct jit_moment at = { .time_ns = j->dump_fd >= 0 ? now_ns : 0 };
	struct stat st;

	if (j->map_fd >= 0 && foreign_stat(j->map_fd, &st) == 0)
		at.map_bytes = (uint64_t)st.st_size;
	return at;
}

static bool is_same(int fd_a, struct file_key a, int fd_b, struct file_key b)
{
	return (fd_a < 0) == (fd_b < 0) && a.dev == b.dev && a.inode == b.inode;
}

/* What `now` lacks is kept: a file that was deleted goes on being written to. */
static void keep_missing(struct jit_files *now, const struct jit_files *before)
{
	if (now->map_fd < 0 && before->map_fd >= 0) {
		now->map_fd = fcntl(before->map_fd, F_DUPFD_CLOEXEC, 0);
		now->map = before->map;
	}
	if (now->dump_fd < 0 && before->dump_fd >= 0) {
		now->dump_fd = fcntl(before->dump_fd, F_DUPFD_CLOEXEC, 0);
		now->dump = before->dump;
	}
}

void jit_files_refresh(struct process_table *t, struct process *p, struct jit_files **files)
{
	_cleanup_(jit_files_unrefp) struct jit_files *now = NULL;
	struct jit_files *before = *files;

	if (jit_files_open(t, p, &now) != 0)
		return;
	if (before)
		keep_missing(now, before);
	if (before && is_same(before->map_fd, before->map, now->map_fd, now->map) &&
	    is_same(before->dump_fd, before->dump, now->dump_fd, now->dump))
		return;
	*files = TAKE_PTR(now);
	jit_files_unref(before);
}

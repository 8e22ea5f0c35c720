/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is to blame for a call that does not return.
 *
 * Whoever made the outermost user namespace that a process is in may be any user inside of it, so he is asked for first. Then the user that
 * the process is of. Root's processes are told apart by their control groups. A process that is gone may have been anybody's: all such count
 * as one, or who ends his processes in time could lose as many calls as he likes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/util/buf.h"
#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "agent/util/hash.h"
#include "agent/util/reader_private.h"
#include "agent/util/str.h"

/* As PROC_STATUS_MAX, PROC_CGROUP_MAX of agent/process. */
#define STATUS_MAX_BYTES 16384
#define CGROUP_MAX_BYTES 65536
/* Deepest nesting of user namespaces, 32 (create_user_ns() of the kernel), and the outermost. */
#define USER_NAMESPACES_MAX 33
/* Devices whose user is known; the one that was told of first goes first. */
#define DEVICES_MAX 256

/* include/uapi/linux/pidfd.h, since Linux 6.11. */
#ifndef PIDFD_GET_USER_NAMESPACE
#define PIDFD_GET_USER_NAMESPACE _IO(0xFF, 9)
#endif

/* What a number is of, so that they differ. */
enum kind { KIND_USER = 1, KIND_USER_NAMESPACE, KIND_CGROUP, KIND_DEVICE, KIND_UNKNOWN };

static uint64_t number_of(enum kind kind, uint64_t value)
{
	uint64_t both[2] = { kind, value };
	uint64_t number = hash_bytes(both, sizeof(both), 0);

	return number ? number : 1;
}

static int read_file(const char *proc_root, uint32_t pid, const char *name, struct buf *b)
{
	char path[256];
	int n = snprintf(path, sizeof(path), "%s/%u/%s", proc_root, pid, name);

	return n < (int)sizeof(path) ? file_read(AT_FDCWD, path, b) : -ENAMETOOLONG;
}

/* Line = "Uid:" real effective saved files. Real: who started a program with another one's rights. */
static bool read_uid(const char *proc_root, uint32_t pid, uint32_t *ret_uid)
{
	_cleanup_buf_ struct buf b = BUF_INIT(STATUS_MAX_BYTES);
	struct str line, rest;
	uint64_t uid;

	if (read_file(proc_root, pid, "status", &b) < 0)
		return false;
	rest = (struct str){ buf_str(&b), b.len };
	while (str_split(&rest, '\n', &line)) {
		if (!str_starts_with(line, STR_LIT("Uid:")))
			continue;
		line = str_trim((struct str){ line.p + 4, line.n - 4 });
		if (str_scan_u64(&line, 10, UINT32_MAX, &uid) < 0)
			return false;
		*ret_uid = (uint32_t)uid;
		return true;
	}
	return false;
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* A descriptor, or −1. The link of /proc/PID/ns waits for whoever changes the process's credentials (reader.h); this does not. */
static int open_user_namespace(uint32_t pid)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	return pidfd < 0 ? -1 : ioctl(pidfd, PIDFD_GET_USER_NAMESPACE, 0);
}

/* NS_GET_PARENT fails with EPERM for ours, and for the one that has no parent. */
static uint64_t of_outermost(int fd, uint64_t ours)
{
	_cleanup_close_ int at = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	uid_t owner = 0;

	for (int i = 0; i < USER_NAMESPACES_MAX; i++) {
		_cleanup_close_ int parent = ioctl(at, NS_GET_PARENT);

		if (parent < 0 || inode_of(parent) == ours)
			break;
		(void)close(at);
		at = TAKE_FD(parent);
	}
	if (ioctl(at, NS_GET_OWNER_UID, &owner) == 0 && owner != 0)
		return number_of(KIND_USER, owner);
	return number_of(KIND_USER_NAMESPACE, inode_of(at));
}

/* "inside outside count" of uid_map's first line. False: it is no such text. */
static bool first_outside(struct str map, uint64_t *ret_uid)
{
	struct str number;

	for (int n = 0; str_split(&map, ' ', &number);) {
		number = str_trim(number);
		if (number.n > 0 && n++ == 1)
			return str_parse_u64(number, 10, UINT32_MAX, ret_uid) == 0;
	}
	return false;
}

/*
 * Before Linux 6.11, by the users that are seen in there: who made it is seen as one of them, most often the first. Users who have been given
 * the numbers of others (/etc/subuid) may show one of these, so for them the control group's bound is the one that holds.
 */
static uint64_t of_uid_map(const char *proc_root, uint32_t pid)
{
	_cleanup_buf_ struct buf map = BUF_INIT(STATUS_MAX_BYTES);
	_cleanup_buf_ struct buf ours = BUF_INIT(STATUS_MAX_BYTES);
	uint64_t uid = 0;

	if (read_file(proc_root, pid, "uid_map", &map) < 0 ||
	    file_read(AT_FDCWD, "/proc/self/uid_map", &ours) < 0 ||
	    strcmp(buf_str(&map), buf_str(&ours)) == 0)
		return 0;
	if (first_outside((struct str){ buf_str(&map), map.len }, &uid) && uid != 0)
		return number_of(KIND_USER, uid);
	return number_of(KIND_USER_NAMESPACE, hash_bytes(buf_str(&map), map.len, 0));
}

/* 0: it is in ours. */
static uint64_t of_user_namespace(const char *proc_root, uint32_t pid)
{
	_cleanup_close_ int ours = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int fd = open_user_namespace(pid);

	if (fd < 0 || ours < 0)
		return of_uid_map(proc_root, pid);
	return inode_of(fd) == inode_of(ours) ? 0 : of_outermost(fd, inode_of(ours));
}

static uint64_t of_cgroup(const char *proc_root, uint32_t pid)
{
	_cleanup_buf_ struct buf b = BUF_INIT(CGROUP_MAX_BYTES);

	if (read_file(proc_root, pid, "cgroup", &b) < 0)
		return 0;
	return number_of(KIND_CGROUP, hash_bytes(buf_str(&b), b.len, 0));
}

struct reader_blame reader_blame_of_process(const char *proc_root, uint32_t pid)
{
	struct reader_blame blame = { .place = of_cgroup(proc_root, pid) };
	uint32_t uid = 0;

	blame.who = of_user_namespace(proc_root, pid);
	if (!blame.who && read_uid(proc_root, pid, &uid) && uid != 0)
		blame.who = number_of(KIND_USER, uid);
	if (!blame.who)
		blame.who = blame.place;
	if (!blame.who)
		blame.who = number_of(KIND_UNKNOWN, 0);
	return blame;
}

static struct {
	pthread_mutex_t lock;
	struct {
		dev_t dev;
		struct reader_blame blame;
	} items[DEVICES_MAX];
	size_t next;
} devices = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* NULL: nothing was said of it. The lock is held. */
static struct reader_blame *find_device(dev_t dev)
{
	for (size_t i = 0; i < DEVICES_MAX; i++)
		if (devices.items[i].dev == dev)
			return &devices.items[i].blame;
	return NULL;
}

/* A device that is nobody's in particular. */
static uint64_t of_device(dev_t dev)
{
	return number_of(KIND_DEVICE, dev);
}

/* Who has a device to himself may keep it from answering; when others use it, too, he does not answer for what is theirs. The lock is held. */
static void add_user(dev_t dev, const struct reader_blame *blame)
{
	struct reader_blame *known = find_device(dev);

	if (!known) {
		devices.items[devices.next % DEVICES_MAX].dev = dev;
		devices.items[devices.next % DEVICES_MAX].blame = *blame;
		devices.next++;
		return;
	}
	if (known->who != blame->who)
		known->who = of_device(dev);
	if (known->place != blame->place)
		known->place = 0;
}

void reader_blame_device(dev_t dev, uint32_t pid)
{
	pthread_mutex_lock(&devices.lock);
	const struct reader_blame *known = dev ? find_device(dev) : NULL;
	bool is_nobodys = known && known->who == of_device(dev);
	pthread_mutex_unlock(&devices.lock);
	if (dev == 0 || is_nobodys)
		return;
	struct reader_blame blame = reader_blame_of_process("/proc", pid);
	/* Who opens it next may still be there. */
	if (blame.who == number_of(KIND_UNKNOWN, 0))
		return;
	pthread_mutex_lock(&devices.lock);
	add_user(dev, &blame);
	pthread_mutex_unlock(&devices.lock);
}

struct reader_blame reader_blame_of_device(dev_t dev)
{
	struct reader_blame blame = { 0 };

	if (dev == 0)
		return blame;
	pthread_mutex_lock(&devices.lock);
	const struct reader_blame *known = find_device(dev);
	blame = known ? *known : (struct reader_blame){ .who = of_device(dev) };
	pthread_mutex_unlock(&devices.lock);
	return blame;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel, the mounts and the environment tell of the place the agent runs in. */
#include "agent/process/host_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/process/cgroup.h"
#include "agent/process/cgroup_tree.h"
#include "agent/process/proc.h"
#include "agent/util/file.h"

/* Hosts of thousands of containers have as many mounts. */
#define MOUNTINFO_MAX ((size_t)16 << 20)
#define SMALL_FILE_MAX ((size_t)4096)
/* Of a line's fields (proc_pid_mountinfo(5)). */
#define MOUNT_POINT 4
#define MOUNT_FIELDS_MAX 64

struct place {
	const char *root;
	char path[PATH_MAX];
};

static const char *at(struct place *p, const char *path)
{
	struct buf b = BUF_INIT(sizeof(p->path));

	p->path[0] = '\0';
	if (buf_printf(&b, "%s%s", p->root, path) == 0)
		str_copy_utf8(p->path, sizeof(p->path), (struct str){ b.data, b.len });
	buf_fini(&b);
	return p->path;
}

static bool is_there(struct place *p, const char *path)
{
	struct stat st;

	return stat(at(p, path), &st) == 0;
}

static bool can_open(struct place *p, const char *path)
{
	_cleanup_close_ int fd = open(at(p, path), O_RDONLY | O_CLOEXEC);

	return fd >= 0;
}

static uint64_t inode_of(struct place *p, const char *path)
{
	struct stat st;

	return stat(at(p, path), &st) == 0 ? st.st_ino : 0;
}

static struct str read_trimmed(struct place *p, const char *path, struct buf *b)
{
	buf_reset(b);
	if (file_read(AT_FDCWD, at(p, path), b) < 0)
		return (struct str){ "", 0 };
	return str_trim((struct str){ buf_str(b), b->len });
}

/* "hidepid=2", since Linux 5.8 also "hidepid=invisible"; what hides nothing is "0" and "off". */
static bool hides_pids(struct str options)
{
	const struct str key = STR_LIT("hidepid=");
	struct str option;

	while (str_split(&options, ',', &option)) {
		if (!str_starts_with(option, key))
			continue;
		option.p += key.n;
		option.n -= key.n;
		return !str_eq(option, STR_LIT("0")) && !str_eq(option, STR_LIT("off"));
	}
	return false;
}

struct mount {
	struct str point, kind, options;
};

/* ID PARENT DEVICE ROOT POINT OPTIONS [TAG…] - KIND SOURCE SUPER_OPTIONS */
static bool parse_mount(struct str line, struct mount *ret_mount)
{
	struct mount m = { 0 };
	struct str field;
	int behind = 0;

	for (int i = 0; i < MOUNT_FIELDS_MAX && str_split(&line, ' ', &field); i++) {
		if (i == MOUNT_POINT)
			m.point = field;
		else if (behind == 0 && i > MOUNT_POINT)
			behind = str_eq(field, STR_LIT("-"));
		else if (behind == 1 && ++behind)
			m.kind = field;
		else if (behind == 2 && ++behind)
			continue;
		else if (behind == 3)
			m.options = field;
	}
	*ret_mount = m;
	return m.kind.n > 0;
}

void host_facts_mounts(struct str mountinfo, struct host_facts *f)
{
	struct mount m;
	struct str line;

	while (str_split(&mountinfo, '\n', &line)) {
		if (!parse_mount(line, &m))
			continue;
		if (str_eq(m.kind, STR_LIT("proc")) && str_eq(m.point, STR_LIT("/proc")))
			f->hidepid = hides_pids(m.options);
	}
}

static void read_mounts(struct place *p, struct host_facts *f)
{
	_cleanup_buf_ struct buf b = BUF_INIT(MOUNTINFO_MAX);

	if (file_read(AT_FDCWD, at(p, "/proc/self/mountinfo"), &b) == 0)
		host_facts_mounts((struct str){ buf_str(&b), b.len }, f);
}

/* The number of the hierarchy's root: kernfs counts from there. */
#define CGROUP_ROOT_ID 1

/* Who finds the root in it finds all. */
static enum host_cgroup2 look_for_cgroup2(const struct place *p)
{
	_cleanup_(cgroup_tree_freep) struct cgroup_tree *tree = NULL;
	_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX);

	if (*p->root)
		return HOST_CGROUP2_HOST;
	if (cgroup_tree_new(NULL, &tree) < 0)
		return HOST_CGROUP2_NONE;
	return cgroup_tree_path(tree, CGROUP_ROOT_ID, &path) == 0 ? HOST_CGROUP2_HOST
								  : HOST_CGROUP2_PART;
}

/* How many numbers are in the line "NSpid:\t4711\t12\t1". */
static uint32_t count_levels(struct str status)
{
	const struct str key = STR_LIT("NSpid:");
	struct str line, number;
	uint32_t n = 0;

	while (str_split(&status, '\n', &line)) {
		if (!str_starts_with(line, key))
			continue;
		line = str_trim((struct str){ line.p + key.n, line.n - key.n });
		while (str_split(&line, '\t', &number))
			n++;
		return n;
	}
	return 1;
}

static void read_own_numbers(struct place *p, struct host_facts *f)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PROC_STATUS_MAX);
	char link[32];
	ssize_t n = readlink(at(p, "/proc/self"), link, sizeof(link));
	uint64_t pid = 0;

	f->own_pid = (uint32_t)getpid();
	if (n > 0)
		(void)str_parse_u64((struct str){ link, (size_t)n }, 10, UINT32_MAX, &pid);
	f->proc_pid = (uint32_t)pid;
	f->pid_levels = count_levels(read_trimmed(p, "/proc/self/status", &b));
}

/* All 2^32 − 1 of them, as the first user namespace says. */
static bool has_part_of_uids(struct place *p)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SMALL_FILE_MAX);
	struct str map = read_trimmed(p, "/proc/self/uid_map", &b), number;
	const struct str whole[] = { STR_LIT("0"), STR_LIT("0"), STR_LIT("4294967295") };
	size_t n = 0;

	if (map.n == 0)
		return false;
	while (str_split(&map, ' ', &number)) {
		if (number.n == 0)
			continue;
		if (n == 3 || !str_eq(number, whole[n++]))
			return true;
	}
	return n != 3;
}

static void read_namespaces(struct place *p, struct host_facts *f)
{
	f->pid_namespace = inode_of(p, "/proc/self/ns/pid");
	f->cgroup_namespace = inode_of(p, "/proc/self/ns/cgroup");
	f->part_of_uids = has_part_of_uids(p);
}

static bool in_own_container(struct place *p)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PROC_CGROUP_MAX);
	struct cgroup_facts cgroup;

	cgroup_parse(read_trimmed(p, "/proc/self/cgroup", &b), &cgroup);
	return cgroup.container_id[0] != '\0';
}

static void read_container(struct place *p, struct host_facts *f)
{
	f->dockerenv = is_there(p, "/.dockerenv");
	f->containerenv = is_there(p, "/run/.containerenv");
	f->kubernetes = is_there(p, "/var/run/secrets/kubernetes.io/serviceaccount") ||
			(!*p->root && getenv("KUBERNETES_SERVICE_HOST"));
	f->own_container = in_own_container(p);
}

/* The first process of our pid namespace, which need not be one of our container. */
static void read_init(struct place *p, struct host_facts *f)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SMALL_FILE_MAX);
	uint64_t init = inode_of(p, "/proc/1/ns/mnt"), own = inode_of(p, "/proc/self/ns/mnt");

	f->init_elsewhere = init && own && init != own;
	f->init_hidden = !can_open(p, "/proc/1/stat");
	f->kind = f->init_elsewhere && is_there(p, "/proc/1/root/kind");
	str_copy_utf8(f->init_comm, sizeof(f->init_comm), read_trimmed(p, "/proc/1/comm", &b));
}

/* gVisor calls itself Linux 4.4.0 of one day, whatever its own version. */
static bool is_gvisor(struct place *p)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SMALL_FILE_MAX);

	return str_starts_with(read_trimmed(p, "/proc/version", &b),
			       STR_LIT("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"));
}

static void read_kernel(struct place *p, struct host_facts *f)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SMALL_FILE_MAX);

	str_copy_utf8(f->kernel_release, sizeof(f->kernel_release),
		      read_trimmed(p, "/proc/sys/kernel/osrelease", &b));
	f->wsl_interop = is_there(p, "/proc/sys/fs/binfmt_misc/WSLInterop");
	f->gvisor = is_gvisor(p);
}

void host_facts_read(const char *root, struct host_facts *ret_facts)
{
	struct place p = { .root = root };
	struct host_facts f = { 0 };

	read_namespaces(&p, &f);
	read_own_numbers(&p, &f);
	read_mounts(&p, &f);
	f.cgroup2 = look_for_cgroup2(&p);
	read_container(&p, &f);
	read_init(&p, &f);
	read_kernel(&p, &f);
	*ret_facts = f;
}

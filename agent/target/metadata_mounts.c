/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a container's records are when its runtime was told to keep them elsewhere: Docker and Podman mount its hostname, hosts and
 * resolv.conf out of the very directory. A process's mountinfo has the path in the file system that it is on, ours (or pid 1's) where that is mounted.
 */
#include <string.h>

#include "agent/target/container_metadata_private.h"
#include "agent/util/file.h"

/* A host has some thirty lines; one with 1,000 containers some 10,000 of 200 bytes. */
#define MOUNTINFO_MAX_BYTES ((size_t)4 << 20)

/* Line = id parent device root mount-point …; paths have blanks as \040: those are not followed. */
struct mount_line {
	struct str device, root, point;
};

static bool parse_line(struct str line, struct mount_line *ret_mount)
{
	struct str id, parent;

	return str_split(&line, ' ', &id) && str_split(&line, ' ', &parent) &&
	       str_split(&line, ' ', &ret_mount->device) &&
	       str_split(&line, ' ', &ret_mount->root) && str_split(&line, ' ', &ret_mount->point);
}

static int read_mountinfo(const struct metadata_files *files, const char *pid, struct buf *out)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/mountinfo", pid);
	return file_read(files->proc_fd, path, out);
}

/* Root = directory "/" id "/" rest, the directory's name ending in `suffix`. */
static bool cut_directory(struct str root, const char *id, struct str suffix,
			  struct str *ret_directory)
{
	char middle[CGROUP_CONTAINER_ID_MAX + 2];
	int n = snprintf(middle, sizeof(middle), "/%s/", id);
	const char *at = root.n ? memmem(root.p, root.n, middle, (size_t)n) : NULL;

	if (!at)
		return false;
	*ret_directory = (struct str){ root.p, (size_t)(at - root.p) };
	return str_ends_with(*ret_directory, suffix);
}

/* The first mount of the container's that comes out of such a directory. */
static bool find_mount(struct str text, const char *id, struct str suffix,
		       struct mount_line *ret_mount)
{
	struct mount_line m;
	struct str line, directory;

	while (str_split(&text, '\n', &line)) {
		if (!parse_line(line, &m) || !cut_directory(m.root, id, suffix, &directory))
			continue;
		*ret_mount = m;
		ret_mount->root = directory;
		return true;
	}
	return false;
}

/* "/a/b" in what is mounted with root "/a" at "/x" is "/x/b". */
static bool path_in(const struct mount_line *host, struct str path, char ret_path[static PATH_MAX])
{
	struct str root = host->root, point = host->point;

	if (root.n == 1)
		root.n = 0;
	if (point.n == 1)
		point.n = 0;
	if (!str_starts_with(path, root) || (path.n > root.n && path.p[root.n] != '/'))
		return false;
	path = (struct str){ path.p + root.n, path.n - root.n };
	if (point.n + path.n >= PATH_MAX)
		return false;
	memcpy(ret_path, point.p, point.n);
	memcpy(ret_path + point.n, path.p, path.n);
	ret_path[point.n + path.n] = '\0';
	return true;
}

bool metadata_find_directory(const struct metadata_look *look, const char *suffix,
			     char ret_path[static PATH_MAX])
{
	_cleanup_buf_ struct buf its = BUF_INIT(MOUNTINFO_MAX_BYTES);
	_cleanup_buf_ struct buf hosts = BUF_INIT(MOUNTINFO_MAX_BYTES);
	struct mount_line mount, host;
	struct str line;
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%u", look->pid);
	if (look->pid == 0 || look->files->proc_fd < 0 ||
	    read_mountinfo(look->files, pid, &its) < 0 ||
	    !find_mount((struct str){ buf_str(&its), its.len }, look->id, str_from(suffix), &mount))
		return false;
	if (read_mountinfo(look->files, look->files->here ? "self" : "1", &hosts) < 0)
		return false;
	struct str text = { buf_str(&hosts), hosts.len };
	while (str_split(&text, '\n', &line))
		if (parse_line(line, &host) && str_eq(host.device, mount.device) &&
		    path_in(&host, mount.root, ret_path))
			return true;
	return false;
}

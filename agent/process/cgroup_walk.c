/* SPDX-License-Identifier: Apache-2.0 */
/* The directories below one, by their inodes. */
#include "agent/process/cgroup_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* A new container is asked for at once and found at once; then not again within this, */
#define WALK_AGAIN_NS (200 * NS_PER_MS)
/* nor within that many times what the last walk took: one per cent of a core. */
#define WALK_REST 100

struct walk_entry {
	struct hash_node node;
	uint64_t inode;
	uint64_t agreed_until_ns;
	char path[];
};

/* One walk. */
struct walk {
	struct cgroup_walk *known;
	char path[PATH_MAX]; /* of where it stands, "" for the root */
	size_t n;
};

DEFINE_CLEANUP(DIR *, closedir);

void cgroup_walk_init(struct cgroup_walk *w, size_t max)
{
	*w = (struct cgroup_walk){ .max = max };
}

static void forget_all(struct cgroup_walk *w)
{
	HASH_FOREACH (&w->by_id, node) {
		hash_remove(&w->by_id, node);
		free(CONTAINER_OF(node, struct walk_entry, node));
	}
	w->n_bytes = 0;
}

void cgroup_walk_fini(struct cgroup_walk *w)
{
	forget_all(w);
	hash_fini(&w->by_id);
}

static struct walk_entry *find(const struct cgroup_walk *w, uint64_t inode)
{
	HASH_FOREACH_MATCH (&w->by_id, hash_u64(inode), node) {
		struct walk_entry *e = CONTAINER_OF(node, struct walk_entry, node);

		if (e->inode == inode)
			return e;
	}
	return NULL;
}

/* The longest path may not fit any more. */
static bool is_full(const struct cgroup_walk *w)
{
	return w->by_id.n >= w->max ||
	       w->n_bytes + sizeof(struct walk_entry) + PATH_MAX > CGROUP_WALK_MAX_BYTES;
}

static void add(struct cgroup_walk *w, uint64_t inode, const char *path, size_t n)
{
	struct walk_entry *e = malloc(sizeof(*e) + n + 1);

	if (!e)
		return;
	e->inode = inode;
	e->agreed_until_ns = 0;
	memcpy(e->path, path, n);
	e->path[n] = '\0';
	if (hash_insert(&w->by_id, &e->node, hash_u64(inode)) < 0)
		free(e);
	else
		w->n_bytes += sizeof(*e) + n + 1;
}

static void remember(struct walk *walk, uint64_t inode)
{
	struct cgroup_walk *w = walk->known;

	if (!is_full(w) && !find(w, inode))
		add(w, inode, walk->path, walk->n);
}

static bool enter(struct walk *walk, const char *name)
{
	size_t n = strlen(name);

	if (walk->n + 1 + n >= sizeof(walk->path))
		return false;
	walk->path[walk->n] = '/';
	memcpy(walk->path + walk->n + 1, name, n + 1);
	walk->n += 1 + n;
	return true;
}

static void leave(struct walk *walk, size_t n)
{
	walk->n = n;
	walk->path[n] = '\0';
}

/* Consumes fd. The depth is bounded by CGROUP_WALK_DEPTH, the width by what is remembered. */
static void walk_directory(struct walk *walk, int fd, unsigned int depth)
{
	_cleanup_(closedirp) DIR *dir = fdopendir(fd);
	const struct dirent *d;
	size_t n = walk->n;

	if (!dir) {
		(void)close(fd);
		return;
	}
	while (!is_full(walk->known) && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.' || !enter(walk, d->d_name))
			continue;
		remember(walk, d->d_ino);
		int child = depth < CGROUP_WALK_DEPTH
				    ? openat(dirfd(dir), d->d_name,
					     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				    : -1;
		if (child >= 0)
			walk_directory(walk, child, depth + 1);
		leave(walk, n);
	}
}

/* What is gone makes room when there is none left: nothing that is known stays but what is found again. */
static void walk_tree(struct cgroup_walk *w, int root_fd)
{
	struct walk walk = { .known = w };
	struct stat st;
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (is_full(w))
		forget_all(w);
	if (fstat(fd, &st) == 0)
		remember(&walk, st.st_ino);
	walk_directory(&walk, fd, 1);
}

void cgroup_walk_remember(struct cgroup_walk *w, uint64_t inode, const char *path)
{
	if (find(w, inode))
		return;
	if (is_full(w))
		forget_all(w);
	add(w, inode, path, strlen(path));
}

static int append(const struct walk_entry *e, struct buf *out)
{
	return e ? buf_append_str(out, e->path[0] ? e->path : "/") : -ENOENT;
}

int cgroup_walk_known(const struct cgroup_walk *w, uint64_t inode, struct buf *out)
{
	return append(find(w, inode), out);
}

void cgroup_walk_agree(struct cgroup_walk *w, uint64_t inode, uint64_t until_ns)
{
	struct walk_entry *e = find(w, inode);

	if (e)
		e->agreed_until_ns = until_ns;
}

uint64_t cgroup_walk_agreed_until(const struct cgroup_walk *w, uint64_t inode)
{
	const struct walk_entry *e = find(w, inode);

	return e ? e->agreed_until_ns : 0;
}

int cgroup_walk_path(struct cgroup_walk *w, int root_fd, uint64_t inode, uint64_t now_ns,
		     struct buf *out)
{
	const struct walk_entry *e = find(w, inode);

	if (!e && now_ns >= w->next_ns) {
		uint64_t before_ns = clock_mono_ns();

		walk_tree(w, root_fd);
		uint64_t took_ns = clock_mono_ns() - before_ns;
		w->next_ns = now_ns + MAX_OF((uint64_t)WALK_AGAIN_NS, took_ns * WALK_REST);
		e = find(w, inode);
	}
	return append(e, out);
}

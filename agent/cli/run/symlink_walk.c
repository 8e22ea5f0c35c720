/* SPDX-License-Identifier: Apache-2.0 */
/* The way to a file, link by link. */
#include "agent/cli/run/symlink_walk.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct walk {
	char dir[PATH_MAX];  /* where we are, absolute, without links; "" is the root */
	char rest[PATH_MAX]; /* what is still to be gone */
	unsigned int n_links;
	path_step_fn fn;
	void *data;
};

/* The next name is cut off the rest: 1, 0 at its end, or -ENAMETOOLONG. */
static int take_name(struct walk *w, char name[static NAME_MAX + 1])
{
	char *at = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(at, "/");

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	if (n == 0)
		return 0;
	memcpy(name, at, n);
	name[n] = '\0';
	at += n;
	at += strspn(at, "/");
	memmove(w->rest, at, strlen(at) + 1);
	return 1;
}

static void go_up(struct walk *w)
{
	char *slash = strrchr(w->dir, '/');

	if (slash)
		*slash = '\0';
}

/* The link's text takes the place of its name. */
static int follow(struct walk *w, const char *link)
{
	char target[PATH_MAX];
	char whole[2 * PATH_MAX + 1];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	if (++w->n_links > SYMLINK_WALK_MAX_LINKS)
		return -ELOOP;
	target[n] = '\0';
	if (target[0] == '/')
		w->dir[0] = '\0';
	int len = snprintf(whole, sizeof(whole), "%s/%s", target, w->rest);
	if (len >= (int)sizeof(w->rest))
		return -ENAMETOOLONG;
	memcpy(w->rest, whole, (size_t)len + 1);
	return 0;
}

static int step(struct walk *w, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		go_up(w);
		return 0;
	}
	if (snprintf(path, sizeof(path), "%s/%s", w->dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	int r = lstat(path, &st) < 0 ? -errno : 0;
	bool is_link = r == 0 && S_ISLNK(st.st_mode);
	w->fn(w->dir[0] ? w->dir : "/", name, !is_link && w->rest[0] == '\0', w->data);
	if (r < 0)
		return r;
	if (is_link)
		return follow(w, path);
	memcpy(w->dir, path, sizeof(w->dir));
	return 0;
}

int symlink_walk(const char *path, path_step_fn fn, void *data)
{
	struct walk w = { .fn = fn, .data = data };
	char name[NAME_MAX + 1];

	if (!*path)
		return -ENOENT;
	if (strlen(path) >= sizeof(w.rest))
		return -ENAMETOOLONG;
	memcpy(w.rest, path, strlen(path) + 1);
	if (path[0] != '/' && !getcwd(w.dir, sizeof(w.dir)))
		return -errno;
	if (strcmp(w.dir, "/") == 0)
		w.dir[0] = '\0';
	int taken = take_name(&w, name);
	while (taken > 0) {
		int r = step(&w, name);

		if (r < 0)
			return r;
		taken = take_name(&w, name);
	}
	return taken;
}

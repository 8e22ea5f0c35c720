/* SPDX-License-Identifier: Apache-2.0 */
/* Targets that files list. */
#include "agent/discovery/file_targets.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/discovery/target_groups.h"
#include "agent/util/file.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

/* A key, a label's name of some length, and the sentence. */
#define PROBLEM_MAX_BYTES 512

void file_targets_init(struct file_targets *t)
{
	*t = (struct file_targets){ 0 };
}

static void file_fini(struct file_targets_file *f)
{
	target_list_fini(&f->targets);
	free(f->problem);
	free(f->path);
}

void file_targets_fini(struct file_targets *t)
{
	for (size_t i = 0; i < t->n_files; i++)
		file_fini(&t->files[i]);
	free(t->files);
	*t = (struct file_targets){ 0 };
}

/* Prometheus takes extensions in small or in capital letters, no mixture. */
static bool has_extension(struct str path)
{
	static const char *const extensions[] = {
		".json", ".yml", ".yaml", ".JSON", ".YML", ".YAML"
	};

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++)
		if (str_ends_with(path, str_from(extensions[i])))
			return true;
	return false;
}

bool file_targets_path_ok(const char *pattern)
{
	const char *star = strchr(pattern, '*');

	return has_extension(str_from(pattern)) && !(star && strchr(star, '/'));
}

bool file_targets_is_pattern(const char *path)
{
	return strpbrk(path, "*?[") != NULL;
}

static enum target_groups_format format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && strcasecmp(dot, ".json") == 0 ? TARGET_GROUPS_JSON : TARGET_GROUPS_YAML;
}

/* ---- which files there are ---------------------------------------------------------------------- */

static struct file_targets_file *find(const struct file_targets *t, const char *path)
{
	for (size_t i = 0; i < t->n_files; i++)
		if (strcmp(t->files[i].path, path) == 0)
			return &t->files[i];
	return NULL;
}

static int add_file(struct file_targets *t, const char *path)
{
	struct file_targets_file *files =
		reallocarray(t->files, t->n_files + 1, sizeof(struct file_targets_file));
	char *copy;

	if (!files)
		return -ENOMEM;
	t->files = files;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	files[t->n_files++] = (struct file_targets_file){ .path = copy, .is_listed = true };
	return 0;
}

static int list_file(struct file_targets *t, const char *path)
{
	struct file_targets_file *f = find(t, path);
	int r = 0;

	if (f && f->is_listed)
		return 0;
	if (t->n_listed == FILE_TARGETS_MAX_FILES) {
		t->n_files_left_out++;
		return 0;
	}
	if (f)
		f->is_listed = true;
	else
		r = add_file(t, path);
	t->n_listed += r == 0;
	return r;
}

/* A name that begins with a dot is as good as others: so it is in Prometheus. */
static int list_pattern(struct file_targets *t, const char *pattern)
{
	glob_t found = { 0 };
	int r = glob(pattern, GLOB_PERIOD, NULL, &found) == GLOB_NOSPACE ? -ENOMEM : 0;

	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
		r = list_file(t, found.gl_pathv[i]);
	globfree(&found);
	return r;
}

static void forget_unlisted(struct file_targets *t, bool *changed)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_files; i++) {
		if (t->files[i].is_listed) {
			t->files[n++] = t->files[i];
			continue;
		}
		*changed |= t->files[i].targets.n > 0;
		t->n_targets -= t->files[i].targets.n;
		file_fini(&t->files[i]);
	}
	t->n_files = n;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct file_targets_file *)a)->path,
		      ((const struct file_targets_file *)b)->path);
}

static int list_files(struct file_targets *t, const char *const *patterns, size_t n, bool *changed)
{
	int r = 0;

	t->n_listed = 0;
	t->n_files_left_out = 0;
	for (size_t i = 0; i < t->n_files; i++)
		t->files[i].is_listed = false;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = list_pattern(t, patterns[i]);
	if (r < 0)
		return r;
	forget_unlisted(t, changed);
	if (t->n_files > 0)
		qsort(t->files, t->n_files, sizeof(*t->files), by_path);
	return 0;
}

/* ---- what is in them ---------------------------------------------------------------------------- */

/* Takes `list` where it is good. */
static void take_targets(struct file_targets *t, struct file_targets_file *f,
			 struct target_list *list, bool *changed)
{
	assert(t->n_targets >= f->targets.n);
	if (target_list_equal(&f->targets, list))
		return;
	t->n_targets += list->n - f->targets.n;
	target_list_fini(&f->targets);
	f->targets = *list;
	*list = (struct target_list){ 0 };
	*changed = true;
}

static int parse(struct file_targets *t, struct file_targets_file *f, struct str text,
		 struct buf *why, bool *changed)
{
	struct label origin = { "__meta_filepath", f->path };
	_cleanup_target_list_ struct target_list list = { 0 };
	int r = target_groups_read(text, format_of(f->path), &origin, why, &list);

	if (r < 0)
		return r;
	if (t->n_targets - f->targets.n + list.n > TARGET_LIST_MAX) {
		(void)buf_printf(why, "more than %d targets in all files", TARGET_LIST_MAX);
		return -E2BIG;
	}
	take_targets(t, f, &list, changed);
	return 0;
}

static void tell_unreadable(int error, struct buf *why)
{
	if (error == -ENOBUFS)
		(void)buf_printf(why, "larger than %zu bytes", FILE_TARGETS_MAX_BYTES);
	else if (error == -EINVAL)
		(void)buf_append_str(why, "not a regular file");
	else
		(void)buf_append_str(why, strerrordesc_np(-error));
}

static void set_problem(struct file_targets_file *f, const struct buf *why)
{
	char *problem = why->len > 0 ? strdup(buf_str(why)) : NULL;

	f->problem_is_new = problem && !(f->problem && strcmp(problem, f->problem) == 0);
	free(f->problem);
	f->problem = problem;
}

/* What was read before need not be parsed again. */
static int read_file(struct file_targets *t, struct file_targets_file *f, bool *changed)
{
	_cleanup_buf_ struct buf text = BUF_INIT(FILE_TARGETS_MAX_BYTES);
	_cleanup_buf_ struct buf why = BUF_INIT(PROBLEM_MAX_BYTES);
	int r = file_read(AT_FDCWD, f->path, &text);
	uint64_t hash = hash_bytes(buf_str(&text), text.len, text.len);
	bool known = r == 0 && f->was_read && hash == f->content_hash;

	f->problem_is_new = false;
	if (known || r == -ENOMEM)
		return known ? 0 : r;
	f->was_read = r == 0;
	f->content_hash = hash;
	if (r < 0)
		tell_unreadable(r, &why);
	else
		r = parse(t, f, (struct str){ buf_str(&text), text.len }, &why, changed);
	f->was_read &= r != -ENOMEM && r != -E2BIG;
	set_problem(f, &why);
	return r == -ENOMEM ? r : 0;
}

int file_targets_refresh(struct file_targets *t, const char *const *patterns, size_t n,
			 bool *ret_changed)
{
	bool changed = false;
	int r = list_files(t, patterns, n, &changed);

	for (size_t i = 0; r == 0 && i < t->n_files; i++)
		r = read_file(t, &t->files[i], &changed);
	*ret_changed = changed;
	return r;
}

int file_targets_get(const struct file_targets *t, struct target_list *ret_list)
{
	int r = 0;

	assert(ret_list->n == 0);
	for (size_t i = 0; i < t->n_files; i++)
		for (size_t k = 0; r == 0 && k < t->files[i].targets.n; k++)
			r = target_list_add(ret_list, labels_ref(t->files[i].targets.items[k]));
	if (r < 0)
		target_list_fini(ret_list);
	return r;
}

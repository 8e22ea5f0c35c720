/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration texts from a file or a directory. */
#include "agent/cli/config/config_file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/util/file.h"
#include "agent/util/str.h"

void config_texts_fini(struct config_texts *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free((char *)t->sources[i].file);
		free((char *)t->sources[i].text);
	}
	free(t->sources);
	*t = (struct config_texts){ 0 };
}

void config_texts_hash(const struct config_texts *t, char ret_hex[static CONFIG_HASH_BYTES])
{
	uint8_t digest[32] = { 0 };
	gnutls_hash_hd_t hash;

	if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) == 0) {
		for (size_t i = 0; i < t->n; i++)
			(void)gnutls_hash(hash, t->sources[i].text, t->sources[i].len);
		gnutls_hash_deinit(hash, digest);
	}
	for (size_t i = 0; i < sizeof(digest); i++)
		(void)snprintf(ret_hex + 2 * i, CONFIG_HASH_BYTES - 2 * i, "%02x", digest[i]);
}

static const char *problem_text(int error)
{
	switch (error) {
	case -ENOBUFS:
		return "larger than 16 MiB";
	case -EINVAL:
		return "not a regular file";
	default:
		return strerror(-error);
	}
}

/* A source without its text yet. */
static int add_name(struct config_texts *t, const char *path)
{
	struct river_source *sources = reallocarray(t->sources, t->n + 1, sizeof(*sources));

	if (!sources)
		return -ENOMEM;
	t->sources = sources;
	sources[t->n++] = (struct river_source){ .file = strdup(path) };
	return sources[t->n - 1].file ? 0 : -ENOMEM;
}

static int read_text(struct river_source *source, struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CONFIG_FILE_MAX_BYTES);
	int r = file_read(AT_FDCWD, source->file, &text);

	if (r < 0) {
		(void)buf_printf(why, "reading config path \"%s\": %s", source->file,
				 problem_text(r));
		return r;
	}
	source->len = text.len;
	source->text = buf_take(&text);
	return source->text ? 0 : -ENOMEM;
}

static int is_config(const struct dirent *entry)
{
	struct str name = str_from(entry->d_name);

	return name.p[0] != '.' && entry->d_type != DT_DIR &&
	       (str_ends_with(name, STR_LIT(".alloy")) || str_ends_with(name, STR_LIT(".river")));
}

/* Of bytes, whatever the language of the host is. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* The parent is cut off, unless there is none that a name could have. */
static void put_parent(struct buf *out, bool rooted)
{
	char *slash = out->len ? strrchr(out->data, '/') : NULL;
	const char *last = slash ? slash + 1 : buf_str(out);

	if (out->len == 0 && rooted)
		return;
	if (out->len == 0 || strcmp(last, "..") == 0) {
		(void)buf_printf(out, "%s..", out->len ? "/" : "");
		return;
	}
	out->len = slash ? (size_t)(slash - out->data) : 0;
	out->data[out->len] = '\0';
}

/* A file of a directory is called by the shortest path to it: "./d/" and "a" make "d/a". */
static int put_path(struct buf *out, const char *dir, const char *name)
{
	bool rooted = dir[0] == '/';
	struct str rest = str_from(dir);
	struct str piece;

	while (str_split(&rest, '/', &piece)) {
		if (piece.n == 0 || str_eq(piece, STR_LIT(".")))
			continue;
		if (str_eq(piece, STR_LIT("..")))
			put_parent(out, rooted);
		else
			(void)buf_printf(out, "%s%.*s", out->len || rooted ? "/" : "", (int)piece.n,
					 piece.p);
	}
	(void)buf_printf(out, "%s%s", out->len || rooted ? "/" : "", name);
	return out->failed ? -ENAMETOOLONG : 0;
}

static int add_entries(struct config_texts *t, const char *path, struct dirent *const *entries,
		       size_t n, struct buf *why)
{
	if (n > CONFIG_FILES_MAX) {
		(void)buf_printf(why, "reading config path \"%s\": more than %d files", path,
				 CONFIG_FILES_MAX);
		return -E2BIG;
	}
	if (n == 0) {
		(void)buf_printf(
			why,
			"reading config path \"%s\": the directory has no *.alloy or *.river file",
			path);
		return -ENOENT;
	}
	for (size_t i = 0; i < n; i++) {
		_cleanup_buf_ struct buf file = BUF_INIT(8192);
		int r = put_path(&file, path, entries[i]->d_name);

		if (r < 0)
			return r;
		r = add_name(t, buf_str(&file));
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_directory(struct config_texts *t, const char *path, struct buf *why)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_config, compare_names);

	if (n < 0)
		return -errno;
	int r = add_entries(t, path, entries, (size_t)n, why);

	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	return r;
}

static int add_path(struct config_texts *t, const char *path, struct buf *why)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? add_directory(t, path, why) : add_name(t, path);
}

int config_names_read(const char *path, struct config_texts *ret_texts)
{
	_cleanup_config_texts_ struct config_texts t = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(8192);
	int r = add_path(&t, path, &why);

	if (r < 0)
		return r;
	*ret_texts = t;
	t = (struct config_texts){ 0 };
	return 0;
}

static int add_text(struct config_texts *t, const struct config_source *source)
{
	int r = add_name(t, source->path);

	if (r < 0)
		return r;
	t->sources[0].text = strdup(source->text);
	t->sources[0].len = strlen(source->text);
	return t->sources[0].text ? 0 : -ENOMEM;
}

static int add_files(struct config_texts *t, const char *path, struct buf *why)
{
	int r = add_path(t, path, why);

	for (size_t i = 0; r == 0 && i < t->n; i++)
		r = read_text(&t->sources[i], why);
	return r;
}

int config_texts_read(const struct config_source *source, struct buf *why,
		      struct config_texts *ret_texts)
{
	assert(source->path);

	_cleanup_config_texts_ struct config_texts t = { 0 };
	int r = source->text ? add_text(&t, source) : add_files(&t, source->path, why);

	if (r < 0) {
		if (why->len == 0)
			(void)buf_printf(why, "reading config path \"%s\": %s", source->path,
					 strerror(-r));
		return r;
	}
	*ret_texts = t;
	t = (struct config_texts){ 0 };
	return 0;
}

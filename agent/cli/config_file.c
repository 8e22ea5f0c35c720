/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration texts from a file or a directory. */
#include "agent/cli/config_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

static int add_text(struct config_texts *t, const char *path, struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CONFIG_FILE_MAX_BYTES);
	int r = file_read(AT_FDCWD, path, &text);

	if (r < 0) {
		(void)buf_printf(why, "reading config path \"%s\": %s", path, problem_text(r));
		return r;
	}
	struct river_source *sources = reallocarray(t->sources, t->n + 1, sizeof(*sources));
	if (!sources)
		return -ENOMEM;
	t->sources = sources;
	size_t n = text.len;
	struct river_source source = { .file = strdup(path), .text = buf_take(&text), .len = n };
	sources[t->n++] = source;
	return source.file && source.text ? 0 : -ENOMEM;
}

static int is_config(const struct dirent *entry)
{
	struct str name = str_from(entry->d_name);

	return name.p[0] != '.' && entry->d_type != DT_DIR &&
	       (str_ends_with(name, STR_LIT(".alloy")) || str_ends_with(name, STR_LIT(".river")));
}

static int add_directory(struct config_texts *t, const char *path, struct buf *why)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_config, alphasort);
	int r = n < 0 ? -errno : 0;

	if (n > CONFIG_FILES_MAX) {
		(void)buf_printf(why, "reading config path \"%s\": more than %d files", path,
				 CONFIG_FILES_MAX);
		r = -E2BIG;
	}
	for (int i = 0; i < n; i++) {
		_cleanup_buf_ struct buf file = BUF_INIT(8192);

		if (r == 0)
			r = buf_printf(&file, "%s/%s", path, entries[i]->d_name);
		if (r == 0)
			r = add_text(t, buf_str(&file), why);
		free(entries[i]);
	}
	free(entries);
	if (r == 0 && n == 0) {
		(void)buf_printf(
			why,
			"reading config path \"%s\": the directory has no *.alloy or *.river file",
			path);
		return -ENOENT;
	}
	return r;
}

int config_texts_read(const char *path, struct buf *why, struct config_texts *ret_texts)
{
	_cleanup_config_texts_ struct config_texts t = { 0 };
	struct stat st;
	int r = stat(path, &st) < 0 ? -errno : 0;

	if (r == 0)
		r = S_ISDIR(st.st_mode) ? add_directory(&t, path, why) : add_text(&t, path, why);
	if (r < 0) {
		if (why->len == 0)
			(void)buf_printf(why, "reading config path \"%s\": %s", path, strerror(-r));
		return r;
	}
	*ret_texts = t;
	t = (struct config_texts){ 0 };
	return 0;
}

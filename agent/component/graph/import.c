/* SPDX-License-Identifier: Apache-2.0 */
/* What import.file and import.string bring: texts with declares. */
#include "agent/component/graph/import.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/component/file/file_text.h"
#include "agent/component/graph/import_file.h"
#include "agent/component/graph/module_kinds.h"
#include "agent/util/hash.h"
#include "agent/util/str.h"

struct import_string_args {
	struct river_secret content;
};

static const struct river_field import_string_fields[] = {
	RIVER_FIELD_OPTIONAL_SECRET(struct import_string_args, content, "content",
				    .flags = RIVER_REQUIRED),
};

static const struct river_schema import_string_schema =
	RIVER_SCHEMA(struct import_string_args, "import.string", import_string_fields);

const struct component_kind import_string_kind = {
	.name = "import.string",
	.schema = &import_string_schema,
	.wants_label = true,
	.build = idle_build,
	.run = idle_run,
	.update = idle_update,
	.stop = idle_stop,
};

static const struct river_schema no_schema = { .name = "import", .size = sizeof(char) };

const struct component_kind import_http_kind = {
	.name = "import.http",
	.schema = &no_schema,
	.wants_label = true,
	.build = idle_build,
	.run = idle_run,
	.update = idle_update,
	.stop = idle_stop,
};

const struct component_kind import_git_kind = {
	.name = "import.git",
	.schema = &no_schema,
	.wants_label = true,
	.build = idle_build,
	.run = idle_run,
	.update = idle_update,
	.stop = idle_stop,
};

bool import_is_supported(const struct component_kind *kind)
{
	return kind == &import_file_kind || kind == &import_string_kind;
}

static int complain(struct buf *why, const char *path, int error)
{
	(void)buf_printf(why, "failed to read directory: %s: %s", path, strerror(-error));
	return error;
}

/* At the next place of `texts`, which has one. */
static int add_text(struct import_texts *texts, const char *file, const char *text, size_t len,
		    struct river_arena *arena)
{
	struct river_source *source = &texts->sources[texts->n];

	source->file = river_arena_strndup(arena, file, strlen(file));
	source->text = river_arena_strndup(arena, text, len);
	source->len = len;
	if (!source->file || !source->text)
		return -ENOMEM;
	texts->n++;
	texts->hash = hash_bytes(file, strlen(file), hash_bytes(text, len, texts->hash));
	return 0;
}

static int add_file(struct import_texts *texts, const char *path, struct river_arena *arena,
		    struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(IMPORT_MAX_BYTES);
	int r = buf_append_str(why, "failed to read file: ");

	if (r < 0)
		return r;
	r = file_text_read(path, &text, why);
	if (r < 0)
		return r;
	buf_reset(why);
	return add_text(texts, path, buf_str(&text), text.len, arena);
}

static int is_module(const struct dirent *entry)
{
	struct str name = str_from(entry->d_name);

	return name.p[0] != '.' && entry->d_type != DT_DIR &&
	       (str_ends_with(name, STR_LIT(".alloy")) || str_ends_with(name, STR_LIT(".river")));
}

static int add_entry(struct import_texts *texts, const char *directory, const char *name,
		     struct river_arena *arena, struct buf *why)
{
	_cleanup_buf_ struct buf path = BUF_INIT(8192);
	int r = buf_printf(&path, "%s/%s", directory, name);

	return r < 0 ? r : add_file(texts, buf_str(&path), arena, why);
}

static int add_entries(struct import_texts *texts, const char *path, struct dirent *const *entries,
		       size_t n, struct river_arena *arena, struct buf *why)
{
	if (n > IMPORT_MAX_FILES)
		return complain(why, path, -E2BIG);
	texts->sources = river_arena_alloc(arena, (n + 1) * sizeof(*texts->sources));
	if (!texts->sources)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int r = add_entry(texts, path, entries[i]->d_name, arena, why);

		if (r < 0)
			return r;
	}
	return 0;
}

static int read_directory(struct import_texts *texts, const char *path, struct river_arena *arena,
			  struct buf *why)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_module, alphasort);

	if (n < 0)
		return complain(why, path, -errno);
	int r = add_entries(texts, path, entries, (size_t)n, arena, why);

	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	texts->path = path;
	return r;
}

static int read_one(struct import_texts *texts, const char *path, struct river_arena *arena,
		    struct buf *why)
{
	const char *slash = strrchr(path, '/');

	texts->sources = river_arena_alloc(arena, sizeof(*texts->sources));
	texts->path = !slash	      ? "."
		      : slash == path ? "/"
				      : river_arena_strndup(arena, path, (size_t)(slash - path));
	return texts->sources && texts->path ? add_file(texts, path, arena, why) : -ENOMEM;
}

static int read_string(struct import_texts *texts, const char *content, struct river_arena *arena)
{
	texts->sources = river_arena_alloc(arena, sizeof(*texts->sources));
	return texts->sources ? add_text(texts, "import_string", content, strlen(content), arena)
			      : -ENOMEM;
}

static int read_path(struct import_texts *texts, const char *filename, struct river_arena *arena,
		     struct buf *why)
{
	const char *path = river_arena_strndup(arena, filename, strlen(filename));
	struct stat st;

	if (!path)
		return -ENOMEM;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return read_directory(texts, path, arena, why);
	return read_one(texts, path, arena, why);
}

int import_read(const struct component_kind *kind, const void *args, struct river_arena *arena,
		struct buf *why, struct import_texts *ret_texts)
{
	const struct import_string_args *string = args;
	const struct import_file_args *file = args;
	struct import_texts texts = { 0 };
	int r = kind == &import_string_kind ? read_string(&texts, string->content.text, arena)
					    : read_path(&texts, file->filename, arena, why);

	if (r < 0)
		return r;
	*ret_texts = texts;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to a loaded graph. */
#include "agent/cli/config/config_load.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/util/file.h"
#include "agent/util/log.h"

/* A load makes at most RIVER_DIAGS_MAX diagnostics of a few lines each. */
#define DIAGS_ARENA_BYTES ((size_t)16 << 20)
#define LINE_MAX_BYTES ((size_t)64 << 10)

void config_load_init(struct config_load *l)
{
	*l = (struct config_load){ 0 };
	river_arena_init(&l->arena, DIAGS_ARENA_BYTES);
	river_diags_init(&l->diags, &l->arena);
}

void config_load_fini(struct config_load *l)
{
	config_texts_fini(&l->texts);
	river_arena_fini(&l->arena);
}

int config_load(struct config_load *l, struct graph *g, const struct config_source *source,
		struct buf *why)
{
	assert(l->texts.n == 0 && l->diags.n_items == 0);

	int r = config_texts_read(source, why, &l->texts);

	if (r < 0)
		return r;
	r = graph_load(g, l->texts.sources, l->texts.n, &l->diags);
	if (r < 0 && why->len == 0)
		(void)buf_printf(why, "loading config path \"%s\": %s", source->path, strerror(-r));
	return r;
}

static void write_stderr(void *ctx, const char *bytes, size_t n)
{
	(void)ctx;
	(void)file_write_fd(STDERR_FILENO, bytes, n);
}

static void write_buf(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

void config_load_print(const struct config_load *l)
{
	if (l->diags.n_items > 0)
		river_diags_write_pretty(&l->diags, l->texts.sources, l->texts.n,
					 isatty(STDERR_FILENO), write_stderr, NULL);
}

static bool is_of(const struct river_diag *d, const char *file)
{
	return d->severity == RIVER_SEVERITY_ERROR && d->range.file &&
	       strcmp(d->range.file, file) == 0;
}

static size_t count_errors(const struct config_load *l, const char *file)
{
	size_t n = 0;

	for (size_t i = 0; i < l->diags.n_items; i++)
		n += is_of(&l->diags.items[i], file);
	return n;
}

static size_t count_files(const struct config_load *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->texts.n; i++)
		n += count_errors(l, l->texts.sources[i].file) > 0;
	return n;
}

static const struct river_diag *first_error(const struct config_load *l, const char *file)
{
	for (size_t i = 0; i < l->diags.n_items; i++)
		if (is_of(&l->diags.items[i], file))
			return &l->diags.items[i];
	return NULL;
}

static void put_file(const struct config_load *l, const char *file, struct buf *out)
{
	const struct river_diag *first = first_error(l, file);
	size_t n = count_errors(l, file);

	if (!first)
		return;
	(void)buf_printf(out, "%s\"%s\": ", out->len ? "\n" : "", file);
	river_diag_write(first, write_buf, out);
	if (n > 1)
		(void)buf_printf(out, " (and %zu more diagnostics)", n - 1);
}

void config_load_summary(const struct config_load *l, struct buf *out)
{
	if (count_files(l) < 2) {
		river_diags_write_summary(&l->diags, write_buf, out);
		return;
	}
	for (size_t i = 0; i < l->texts.n; i++)
		put_file(l, l->texts.sources[i].file, out);
}

void config_load_log_warnings(const struct config_load *l)
{
	for (size_t i = 0; i < l->diags.n_items; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(LINE_MAX_BYTES);

		if (l->diags.items[i].severity != RIVER_SEVERITY_WARNING)
			continue;
		river_diag_write(&l->diags.items[i], write_buf, &line);
		log_warn("the configuration has something to look at",
			 LOG_STR("warning", buf_str(&line)));
	}
}

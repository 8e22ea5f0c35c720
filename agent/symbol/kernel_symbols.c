/* SPDX-License-Identifier: Apache-2.0 */
/* The source of the kernel's names. */
#include "agent/symbol/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/object/build_id.h"
#include "agent/symbol/kallsyms.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"

/* One load of the index with what frames point to. */
struct image {
	struct kallsyms *kallsyms;
	struct frame_object *objects; /* one a module, in the order of kallsyms_module() */
	char *paths;		      /* their paths, MODULE_PATH_BYTES each */
};

/* MODULE_NAME_LEN is 56, and two brackets. */
#define MODULE_PATH_BYTES 64

struct kernel_symbols {
	struct symbolizer symbolizer;
	const char *path;
	struct arena *names;
	enum demangle_mode mode;
	struct image image;
	struct image retired; /* names of this interval still point into it */
	uint64_t now_ns;
	uint64_t reload_at_ns;
	uint64_t reload_pause_ns;
	struct build_id build_id; /* of the kernel itself */
};

static void image_fini(struct image *image)
{
	kallsyms_free(image->kallsyms);
	free(image->objects);
	free(image->paths);
	*image = (struct image){ 0 };
}

static int name_modules(struct image *image, const char *kernel_build_id)
{
	size_t n = 0;

	while (kallsyms_module(image->kallsyms, n))
		n++;
	if (n == 0)
		return 0;
	image->objects = calloc(n, sizeof(*image->objects));
	image->paths = calloc(n, MODULE_PATH_BYTES);
	if (!image->objects || !image->paths)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		char *path = image->paths + i * MODULE_PATH_BYTES;

		(void)snprintf(path, MODULE_PATH_BYTES, "[%s]",
			       i == 0 ? "kernel" : kallsyms_module(image->kallsyms, i));
		image->objects[i] = (struct frame_object){ FRAME_OBJECT_KERNEL, path,
							   i == 0 ? kernel_build_id : "" };
	}
	return 0;
}

static int load(struct kernel_symbols *s, struct image *ret_image)
{
	_cleanup_(image_fini) struct image image = { 0 };
	int r = kallsyms_load(s->path, &image.kallsyms);

	if (r == 0)
		r = name_modules(&image, build_id_text(&s->build_id));
	if (r < 0)
		return r;
	*ret_image = image;
	image = (struct image){ 0 };
	return 0;
}

static void read_build_id(struct kernel_symbols *s)
{
	_cleanup_buf_ struct buf notes = BUF_INIT(BUILD_ID_MAX_NOTES_BYTES);

	if (file_read(AT_FDCWD, "/sys/kernel/notes", &notes) == 0)
		build_id_parse_notes(buf_str(&notes), notes.len, 4, &s->build_id);
}

/* Returns whether there is an index to look into; a failed attempt is repeated after the pause. */
static bool ensure_loaded(struct kernel_symbols *s)
{
	if (s->image.kallsyms)
		return true;
	if (s->now_ns < s->reload_at_ns)
		return false;
	s->reload_at_ns = s->now_ns + s->reload_pause_ns;
	read_build_id(s);
	return load(s, &s->image) == 0;
}

/* After a miss. True when there is a new index, in which the pc is to be looked up again. */
static bool reload_if_due(struct kernel_symbols *s)
{
	struct image fresh;

	/* One a round: what is retired must live until its end. */
	if (s->now_ns < s->reload_at_ns || s->retired.kallsyms)
		return false;
	s->reload_at_ns = s->now_ns + s->reload_pause_ns;
	if (load(s, &fresh) < 0)
		return false;
	s->retired = s->image;
	s->image = fresh;
	return true;
}

static void adapt_pause(struct kernel_symbols *s, bool helped)
{
	s->reload_pause_ns = helped ? KERNEL_SYMBOLS_RELOAD_NS
				    : MIN_OF(2 * s->reload_pause_ns, KERNEL_SYMBOLS_MAX_RELOAD_NS);
	s->reload_at_ns = s->now_ns + s->reload_pause_ns;
}

static bool find(struct kernel_symbols *s, uint64_t pc, struct kallsyms_symbol *ret_symbol)
{
	if (!ensure_loaded(s))
		return false;
	if (kallsyms_find(s->image.kallsyms, pc, ret_symbol))
		return true;
	if (!reload_if_due(s))
		return false;
	bool helped = kallsyms_find(s->image.kallsyms, pc, ret_symbol);
	adapt_pause(s, helped);
	return helped;
}

/* Most kernel names are shown as they are, and borrowed from the index. */
static const char *shown_name(struct kernel_symbols *s, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES);
	struct str raw = str_from(name);

	if (demangle(raw, s->mode, &text) < 0 || str_eq(raw, (struct str){ text.data, text.len }))
		return name;
	const char *copy = arena_strndup(s->names, text.data, text.len);
	return copy ? copy : name;
}

static const struct frame_object *object_of(const struct kernel_symbols *s, const char *module)
{
	size_t i = 0;

	/* The names of modules are unique strings of the index. */
	while (kallsyms_module(s->image.kallsyms, i) != module)
		i++;
	return &s->image.objects[i];
}

static int resolve(struct symbolizer *self, const struct location *location,
		   struct frames *ret_frames)
{
	struct kernel_symbols *s = CONTAINER_OF(self, struct kernel_symbols, symbolizer);
	struct kallsyms_symbol symbol;

	if (location->kind != LOCATION_KERNEL || !find(s, location->pc, &symbol))
		return SYMBOLIZER_PASS;
	ret_frames->n = 1;
	ret_frames->items[0] = (struct frame){ .function = shown_name(s, symbol.name),
					       .file = "",
					       .object = object_of(s, symbol.module) };
	return 0;
}

int kernel_symbols_new(const char *path, struct arena *names, struct kernel_symbols **ret_symbols)
{
	struct kernel_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->symbolizer.resolve = resolve;
	s->path = path;
	s->names = names;
	s->reload_pause_ns = KERNEL_SYMBOLS_RELOAD_NS;
	*ret_symbols = s;
	return 0;
}

void kernel_symbols_free(struct kernel_symbols *s)
{
	if (!s)
		return;
	image_fini(&s->image);
	image_fini(&s->retired);
	free(s);
}

struct symbolizer *kernel_symbols_symbolizer(struct kernel_symbols *s)
{
	return &s->symbolizer;
}

void kernel_symbols_set_time(struct kernel_symbols *s, uint64_t now_ns)
{
	s->now_ns = now_ns;
}

void kernel_symbols_end(struct kernel_symbols *s)
{
	image_fini(&s->retired);
}

void kernel_symbols_set_demangle(struct kernel_symbols *s, enum demangle_mode mode)
{
	s->mode = mode;
}

bool kernel_symbols_hidden(const struct kernel_symbols *s)
{
	return s->image.kallsyms && kallsyms_state(s->image.kallsyms) == KALLSYMS_HIDDEN;
}

size_t kernel_symbols_bytes(const struct kernel_symbols *s)
{
	return s->image.kallsyms ? kallsyms_bytes(s->image.kallsyms) : 0;
}

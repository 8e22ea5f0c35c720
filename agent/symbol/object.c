/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of one mapped file. */
#include "agent/symbol/object.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/object/build_id.h"
#include "agent/object/vdso.h"
#include "agent/process/file_table.h"
#include "agent/util/buf.h"
#include "agent/util/clock.h"
#include "agent/util/foreign_file.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* What malloc and the table's bucket add to an entry, about. */
#define ALLOCATION_BYTES 24

static bool open_bytes(const struct mapped_file *file, struct bytes *ret_bytes)
{
	if (file->vdso)
		return vdso_image(ret_bytes) == 0;
	return file->fd >= 0 && !mapped_file_is_rewritten(file) &&
	       bytes_from_fd(file->fd, ret_bytes) == 0;
}

/* Paths are the process's bytes: made showable. */
static char *showable(const char *text)
{
	size_t n = strlen(text) * 3 + 1;
	char *copy = malloc(n);

	if (!copy)
		return NULL;
	str_copy_utf8(copy, n, str_from(text));
	char *less = realloc(copy, strlen(copy) + 1);
	return less ? less : copy;
}

static const char *shown_path(const struct mapped_file *file)
{
	if (file->vdso)
		return "[vdso]";
	return file->path && file->path[0] ? file->path : "[unknown]";
}

int object_new(const struct mapped_file *file, struct object **ret_object)
{
	_cleanup_free_ struct object *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	list_init(&o->lru);
	o->id = file->id;
	o->key = file->key;
	o->path = showable(shown_path(file));
	if (!o->path)
		return -ENOMEM;
	struct str base = str_basename(str_from(o->path));
	o->basename = base.n > 0 ? base.p : o->path;
	o->frame_object = (struct frame_object){ file->vdso ? FRAME_OBJECT_VDSO : FRAME_OBJECT_FILE,
						 o->path, "" };
	*ret_object = TAKE_PTR(o);
	return 0;
}

static void forget(struct object *o, struct shared_elf_symbols *shared_elf_symbols)
{
	if (o->elf_symbols)
		shared_elf_symbols_release(shared_elf_symbols, o->elf_symbols);
	o->elf_symbols = NULL;
	free(o->build_id);
	o->build_id = NULL;
	o->frame_object.build_id = "";
	o->is_known = false;
	o->has_debug = false;
	o->bad_ns = 0;
}

void object_free(struct object *o, struct shared_elf_symbols *shared_elf_symbols)
{
	if (!o)
		return;
	forget(o, shared_elf_symbols);
	free(o->path);
	free(o);
}

size_t object_bytes(const struct object *o)
{
	return sizeof(*o) + strlen(o->path) + ALLOCATION_BYTES +
	       (o->build_id ? strlen(o->build_id) + ALLOCATION_BYTES : 0);
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Anyone may set a file's mtime, nobody its ctime. That changes also when a link to it goes, which costs one reading. */
static bool is_same_file(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size_bytes == b->size_bytes &&
	       is_same_time(&a->mtime, &b->mtime) && is_same_time(&a->ctime, &b->ctime);
}

/* 0 or -errno. */
static int read_stamp(int fd, struct file_stamp *ret_stamp)
{
	struct stat st;

	if (foreign_stat(fd, &st) < 0)
		return -errno;
	*ret_stamp =
		(struct file_stamp){ st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim };
	return 0;
}

static bool has_changed(const struct object *o, const struct mapped_file *file)
{
	struct file_stamp now;

	return file->fd >= 0 && o->is_known && read_stamp(file->fd, &now) == 0 &&
	       !is_same_file(&now, &o->stamp);
}

/* One that is closed by now is still the one whose names were read. */
static bool has_other_debug(const struct object *o, const struct mapped_file *file)
{
	int fd = mapped_file_debug_fd(file);
	struct file_stamp now;

	return fd >= 0 && o->is_known && read_stamp(fd, &now) == 0 &&
	       !(o->has_debug && is_same_file(&now, &o->debug_stamp));
}

void object_revalidate(struct object *o, const struct mapped_file *file,
		       const struct object_context *context)
{
	bool is_old = o->bad_ns && context->now_ns >= o->bad_ns + ELF_SYMBOLS_NEGATIVE_NS;

	assert(o->id == file->id);
	if (is_old || (!file->vdso && (has_changed(o, file) || has_other_debug(o, file)))) {
		forget(o, context->shared_elf_symbols);
		return;
	}
	if (!o->elf_symbols)
		return;
	shared_elf_symbols_begin_change(context->shared_elf_symbols, o->elf_symbols);
	elf_symbols_expire(o->elf_symbols, context->now_ns);
	shared_elf_symbols_end_change(context->shared_elf_symbols, o->elf_symbols);
}

static int read_build_id(struct object *o, struct elf *elf)
{
	struct build_id id;
	int r = build_id_read(elf, &id);

	if (r < 0 || !build_id_text(&id)[0])
		return r;
	free(o->build_id);
	o->build_id = strdup(build_id_text(&id));
	o->frame_object.build_id = o->build_id ? o->build_id : "";
	return o->build_id ? 0 : -ENOMEM;
}

/* A file whose symbols are going to be read, if nobody has those of its content. */
struct reading {
	struct elf *elf;   /* owned */
	struct elf *debug; /* owned; NULL: none */
	uint64_t digest;   /* 0: cannot be told */
};

static void reading_fini(struct reading *r)
{
	elf_free(r->elf);
	elf_free(r->debug);
}

static int read_elf(struct object *o, struct bytes bytes, uint64_t now_ns, struct elf **ret_elf)
{
	int r = elf_new(bytes, ret_elf);

	if (r > 0) {
		o->bad_ns = now_ns;
		/* Programs map other kinds of files executable too: that is no fault of theirs. */
		return r == ELF_MALFORMED ? OBJECT_MALFORMED : OBJECT_NO_NAME;
	}
	return r < 0 ? r : read_build_id(o, *ret_elf);
}

/* What cannot be used as one is no debug file. */
static int read_debug(struct object *o, const struct mapped_file *file, struct elf **ret_debug)
{
	int fd = file->vdso ? -1 : mapped_file_debug_fd(file);
	struct bytes bytes;

	if (fd < 0 || read_stamp(fd, &o->debug_stamp) < 0)
		return 0;
	o->has_debug = true;
	int r = bytes_from_fd(fd, &bytes);
	if (r == 0)
		r = elf_new(bytes, ret_debug);
	return r == -ENOMEM ? r : 0;
}

static int digest_all(struct reading *reading, const struct object_context *context)
{
	uint64_t digest = 0;
	int r = 0;

	if (reading->debug)
		r = name_digest(reading->debug, context->key, 0, context->with_lines, &digest);
	if (r == 0)
		r = name_digest(reading->elf, context->key, digest, context->with_lines, &digest);
	elf_drop_sections(reading->elf);
	if (reading->debug)
		elf_drop_sections(reading->debug);
	if (r == 0)
		reading->digest = digest;
	return r == -ENOMEM ? r : 0;
}

static int make_elf_symbols(struct reading *reading, struct shared_elf_symbols *shared_elf_symbols,
			    struct elf_symbols **ret_elf_symbols)
{
	struct elf_symbols *elf_symbols =
		reading->digest ? shared_elf_symbols_find(shared_elf_symbols, reading->digest)
				: NULL;
	int r = 0;

	if (!elf_symbols) {
		r = elf_symbols_new(reading->elf, reading->debug, &elf_symbols);
		if (r < 0)
			return r;
		reading->elf = reading->debug = NULL;
		r = shared_elf_symbols_add(shared_elf_symbols, elf_symbols, reading->digest);
	}
	if (r < 0) {
		elf_symbols_free(elf_symbols);
		return r;
	}
	*ret_elf_symbols = elf_symbols;
	return 0;
}

int object_load(struct object *o, const struct mapped_file *file,
		const struct object_context *context)
{
	_cleanup_(reading_fini) struct reading reading = { 0 };
	struct bytes bytes;

	assert(o->id == file->id);
	if (o->elf_symbols)
		return 0;
	if (o->bad_ns || !open_bytes(file, &bytes))
		return OBJECT_NO_NAME;
	int r = file->vdso ? 0 : read_stamp(file->fd, &o->stamp);
	if (r < 0)
		return r;
	o->is_known = true;
	r = read_elf(o, bytes, context->now_ns, &reading.elf);
	if (r != 0)
		return r;
	r = read_debug(o, file, &reading.debug);
	if (r != 0)
		return r;
	r = digest_all(&reading, context);
	if (r != 0)
		return r;
	return make_elf_symbols(&reading, context->shared_elf_symbols, &o->elf_symbols);
}

bool object_vaddr(const struct object *o, uint64_t file_off, uint64_t *ret_vaddr)
{
	return o->elf_symbols && elf_vaddr(o->elf_symbols->elf, file_off, ret_vaddr);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of one mapped file. */
#include "agent/symbol/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/build_id.h"
#include "agent/object/vdso.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* One entry of the index with its name, or the knowledge that it has none (begin = end). */
struct function {
	struct hash_node node;
	uint64_t begin;
	uint64_t end;
	uint32_t entry;
	uint32_t bytes;
	char name[];
};

/* What malloc and the table's bucket add to an entry, about. */
#define ALLOCATION_BYTES 24

static bool open_bytes(const struct mapped_file *file, struct bytes *ret_bytes)
{
	if (file->vdso)
		return vdso_image(ret_bytes) == 0;
	return file->fd >= 0 && bytes_from_fd(file->fd, ret_bytes) == 0;
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
	_cleanup_(object_freep) struct object *o = calloc(1, sizeof(*o));

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

void object_drop_symtab(struct object *o)
{
	symtab_free(o->symtab);
	o->symtab = NULL;
}

void object_drop_functions(struct object *o)
{
	HASH_FOREACH (&o->functions, node)
		free(CONTAINER_OF(node, struct function, node));
	hash_fini(&o->functions);
	o->functions = HASH_TABLE_INIT;
	o->function_bytes = 0;
}

static void forget(struct object *o)
{
	object_drop_symtab(o);
	object_drop_functions(o);
	elf_free(o->elf);
	o->elf = NULL;
	free(o->build_id);
	o->build_id = NULL;
	o->frame_object.build_id = "";
	o->is_known = false;
	o->is_bad = false;
}

void object_free(struct object *o)
{
	if (!o)
		return;
	forget(o);
	free(o->path);
	free(o);
}

size_t object_bytes(const struct object *o)
{
	return sizeof(*o) + strlen(o->path) + ALLOCATION_BYTES +
	       (o->elf ? elf_memory_bytes(o->elf) : 0) + (o->symtab ? symtab_bytes(o->symtab) : 0) +
	       o->function_bytes + (o->build_id ? strlen(o->build_id) + ALLOCATION_BYTES : 0);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void object_revalidate(struct object *o, const struct mapped_file *file)
{
	struct stat now;

	if (file->vdso || file->fd < 0 || !o->is_known || fstat(file->fd, &now) < 0)
		return;
	if (!is_same_file(&now, &o->stat))
		forget(o);
}

static int read_build_id(struct object *o, struct elf *elf)
{
	struct build_id id;
	int r = build_id_read(elf, &id);

	if (r < 0 || !build_id_text(&id)[0])
		return r;
	o->build_id = strdup(build_id_text(&id));
	if (!o->build_id)
		return -ENOMEM;
	o->frame_object.build_id = o->build_id;
	return 0;
}

static int read_elf(struct object *o, struct bytes bytes)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	int r = elf_new(bytes, &elf);

	if (r > 0) {
		o->is_bad = true;
		/* Programs map other kinds of files executable too: that is no fault of theirs. */
		return r == ELF_MALFORMED ? OBJECT_MALFORMED : OBJECT_NO_NAME;
	}
	if (r == 0)
		r = read_build_id(o, elf);
	if (r < 0)
		return r;
	o->elf = TAKE_PTR(elf);
	return 0;
}

int object_load(struct object *o, const struct mapped_file *file)
{
	struct bytes bytes;

	if (o->symtab)
		return 0;
	if (o->is_bad || !open_bytes(file, &bytes))
		return OBJECT_NO_NAME;
	if (!o->is_known) {
		if (!file->vdso && fstat(file->fd, &o->stat) < 0)
			return -errno;
		o->is_known = true;
	}
	if (o->elf)
		elf_set_fd(o->elf, bytes.fd);
	int r = o->elf ? 0 : read_elf(o, bytes);
	if (r == 0)
		r = symtab_new(o->elf, &o->symtab);
	if (o->elf)
		elf_drop_sections(o->elf);
	return r;
}

bool object_vaddr(const struct object *o, uint64_t file_off, uint64_t *ret_vaddr)
{
	return o->elf && elf_vaddr(o->elf, file_off, ret_vaddr);
}

static struct function *find_function(const struct object *o, uint32_t entry)
{
	HASH_FOREACH_MATCH (&o->functions, hash_u64(entry), node) {
		struct function *f = CONTAINER_OF(node, struct function, node);

		if (f->entry == entry)
			return f;
	}
	return NULL;
}

static int add_function(struct object *o, uint32_t entry, const struct symtab_symbol *symbol,
			struct str name, struct function **ret_function)
{
	size_t bytes = sizeof(struct function) + name.n + 1;
	_cleanup_free_ struct function *f = malloc(bytes);

	if (!f)
		return -ENOMEM;
	f->entry = entry;
	f->begin = symbol->begin;
	f->end = symbol->end;
	f->bytes = (uint32_t)bytes;
	if (name.n > 0)
		memcpy(f->name, name.p, name.n);
	f->name[name.n] = '\0';
	int r = hash_insert(&o->functions, &f->node, hash_u64(entry));
	if (r < 0)
		return r;
	o->function_bytes += bytes + ALLOCATION_BYTES;
	*ret_function = TAKE_PTR(f);
	return 0;
}

static int read_function(struct object *o, const struct mapped_file *file, uint32_t entry,
			 enum demangle_mode mode, struct function **ret_function)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(SYMTAB_MAX_NAME_BYTES + 1);
	_cleanup_buf_ struct buf name = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES + 1);
	struct symtab_symbol symbol = { 0 };

	if (!file->vdso && file->fd < 0)
		return OBJECT_NO_NAME;
	/* The descriptor may be another one than when the index was built. */
	struct bytes bytes = *elf_bytes(o->elf);
	bytes.fd = file->vdso ? bytes.fd : file->fd;
	int r = symtab_symbol(o->symtab, &bytes, entry, &symbol);
	if (r == 0)
		r = symtab_name(o->symtab, &bytes, &symbol, &raw);
	if (r == 0)
		r = demangle((struct str){ raw.data, raw.len }, mode, &name);
	if (r < 0)
		return r;
	if (r == SYMTAB_NONE)
		symbol = (struct symtab_symbol){ 0 };
	return add_function(o, entry, &symbol, (struct str){ name.data, name.len }, ret_function);
}

int object_function(struct object *o, const struct mapped_file *file, uint64_t vaddr,
		    enum demangle_mode mode, const char **ret_name)
{
	uint32_t entry;

	if (symtab_locate(o->symtab, vaddr, &entry) != 0)
		return OBJECT_NO_NAME;
	struct function *f = find_function(o, entry);
	if (!f) {
		int r = read_function(o, file, entry, mode, &f);
		if (r != 0)
			return r;
	}
	if (vaddr < f->begin || vaddr >= f->end || !f->name[0])
		return OBJECT_NO_NAME;
	*ret_name = f->name;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which files hold runtimes, and which of them a process has mapped. */
#include "agent/runtimes/runtime_tables_private.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/util/macro.h"

int runtime_tables_new(const struct runtime_tables_options *o, struct runtime_tables **ret_tables)
{
	struct runtime_tables *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->maps = *o;
	list_init(&t->by_age);
	*ret_tables = t;
	return 0;
}

static bool has_library(const struct runtime_tables *t, uint64_t library)
{
	LIST_FOREACH (&t->by_age, node)
		if (LIST_ENTRY(node, struct holder, age)->file.library == library)
			return true;
	return false;
}

static bool is_part(const struct runtime_file *f)
{
	return f->wire.flags & WIRE_RUNTIME_PART;
}

/* The key 0 stands for all of them. */
static void put_library(const struct runtime_tables *t, const struct runtime_file *f)
{
	const uint64_t any = 0;

	if (!f->library || is_part(f))
		return;
	(void)bpf_map_update_elem(t->maps.libraries_fd, &f->library, &f->wire.base, BPF_ANY);
	(void)bpf_map_update_elem(t->maps.libraries_fd, &any, &any, BPF_ANY);
}

static void holder_free(struct runtime_tables *t, struct holder *h)
{
	hash_remove(&t->holders, &h->node);
	list_remove(&h->age);
	/* Builds of one version in several containers have one key. */
	if (h->file.library && !has_library(t, h->file.library))
		(void)bpf_map_delete_elem(t->maps.libraries_fd, &h->file.library);
	free(h);
}

void runtime_tables_free(struct runtime_tables *t)
{
	if (!t)
		return;
	LIST_FOREACH (&t->by_age, node)
		holder_free(t, LIST_ENTRY(node, struct holder, age));
	hash_fini(&t->holders);
	free(t);
}

static struct holder *holder_find(const struct runtime_tables *t, uint32_t file_id)
{
	HASH_FOREACH_MATCH (&t->holders, hash_u64(file_id), node) {
		struct holder *h = CONTAINER_OF(node, struct holder, node);

		if (h->file_id == file_id)
			return h;
	}
	return NULL;
}

static bool has_image(const struct runtime_tables *t, uint64_t image)
{
	for (size_t i = 0; i < RUNTIME_TABLES_MAX_IMAGES; i++)
		if (t->images[i] == image)
			return true;
	return false;
}

static void put_image(struct runtime_tables *t, const struct holder *h, uint64_t image)
{
	uint64_t *slot = &t->images[t->n_images % RUNTIME_TABLES_MAX_IMAGES];

	if (!image || is_part(&h->file) || has_image(t, image))
		return;
	t->n_images++;
	if (*slot)
		(void)bpf_map_delete_elem(t->maps.images_fd, slot);
	*slot = 0;
	if (bpf_map_update_elem(t->maps.images_fd, &image, &h->file.wire, BPF_ANY) == 0)
		*slot = image;
}

int runtime_tables_add(struct runtime_tables *t, const struct mapped_file *f,
		       const struct runtime_file *found)
{
	struct holder *h = holder_find(t, f->id);
	bool is_new = !h;
	bool is_full = is_new && t->holders.n >= RUNTIME_TABLES_MAX_FILES;

	if (is_full)
		holder_free(t, LIST_ENTRY(t->by_age.next, struct holder, age));
	if (is_new)
		h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->file_id = f->id;
	h->file = *found;
	put_image(t, h, found->image);
	put_library(t, found);
	if (!is_new)
		return 0;
	list_init(&h->age);
	int r = hash_insert(&t->holders, &h->node, hash_u64(f->id));
	if (r < 0) {
		free(h);
		return r;
	}
	list_push_back(&t->by_age, &h->age);
	t->epoch++;
	return is_full;
}

uint32_t runtime_tables_epoch(const struct runtime_tables *t)
{
	return t->epoch;
}

/* What is looked for among the files that a process has mapped. */
struct wanted {
	const char *path; /* that file alone; NULL: any */
	bool of_part;
	uint32_t kind;	/* RUNTIME_NONE: any */
	uint32_t flags; /* of `mask` */
	uint32_t mask;
};

static bool is_wanted(const struct wanted *w, const struct runtime_file *f)
{
	return is_part(f) == w->of_part && (!w->kind || f->wire.kind == w->kind) &&
	       (f->wire.flags & w->mask) == w->flags;
}

/* The lowest mapping of a file that holds one, or a part. */
static const struct mapping *mapping_of(struct runtime_tables *t, const struct process *p,
					const struct wanted *wanted,
					const struct holder **ret_holder)
{
	const struct mappings *m = p->mappings;

	for (uint32_t i = 0; m && i < m->n; i++) {
		const struct mapped_file *f = m->items[i].file;

		if (!f || (wanted->path && strcmp(wanted->path, f->path) != 0))
			continue;
		struct holder *h = holder_find(t, f->id);
		if (!h || !is_wanted(wanted, &h->file))
			continue;
		list_remove(&h->age);
		list_push_back(&t->by_age, &h->age);
		*ret_holder = h;
		return &m->items[i];
	}
	return NULL;
}

size_t runtime_tables_mapped(struct runtime_tables *t, const struct process *p,
			     struct mapped_runtime ret_runtimes[RUNTIMES_OF_PROCESS])
{
	const uint32_t flags[RUNTIMES_OF_PROCESS] = { 0, WIRE_RUNTIME_GENERATES };
	size_t n = 0;

	for (size_t i = 0; t->holders.n && i < RUNTIMES_OF_PROCESS; i++) {
		const struct wanted w = { .flags = flags[i], .mask = WIRE_RUNTIME_GENERATES };
		struct mapped_runtime *r = &ret_runtimes[n];

		r->mapping = mapping_of(t, p, &w, &r->holder);
		n += r->mapping != NULL;
	}
	return n;
}

const struct holder *runtime_tables_part(struct runtime_tables *t, const struct process *p,
					 uint32_t kind)
{
	const struct wanted w = { .of_part = true, .kind = kind };
	const struct holder *part = NULL;

	return mapping_of(t, p, &w, &part) ? part : NULL;
}

uint64_t runtime_tables_files(struct runtime_tables *t, const struct process *p)
{
	struct mapped_runtime runtimes[RUNTIMES_OF_PROCESS];
	size_t n = runtime_tables_mapped(t, p, runtimes);
	uint64_t files = 0;

	for (size_t i = 0; i < n; i++) {
		const struct holder *h = runtimes[i].holder;
		const struct holder *part = runtime_tables_part(t, p, h->file.wire.kind);

		files = hash_u64(files ^ h->file_id) | 1;
		files = part ? hash_u64(files ^ part->file_id) | 1 : files;
	}
	return files;
}

void runtime_tables_publish_image(struct runtime_tables *t, const struct process *p,
				  const char *exe_path, uint64_t image)
{
	const struct holder *h = NULL;

	if (image && t->holders.n && mapping_of(t, p, &(struct wanted){ .path = exe_path }, &h))
		put_image(t, h, image);
}

void runtime_tables_publish_library(struct runtime_tables *t, const struct process *p,
				    uint64_t text, uint64_t image)
{
	const struct mapping *m = mappings_find(p->mappings, text);
	const struct holder *h = image && m && m->file ? holder_find(t, m->file->id) : NULL;

	if (h)
		put_image(t, h, image);
}

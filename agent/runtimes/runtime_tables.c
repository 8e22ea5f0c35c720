/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel half knows of runtimes. */
#include "agent/runtimes/runtime_tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/thread_memory.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

struct holder {
	uint32_t file_id;
	struct runtime_file file;
	struct hash_node node;
	struct list age;
};

struct runtime_tables {
	struct runtime_tables_options maps;
	struct hash_table holders;
	struct list by_age;
	uint64_t images[RUNTIME_TABLES_MAX_IMAGES]; /* a ring: the oldest gives way */
	size_t n_images;
	uint32_t epoch;
};

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

/* The lowest mapping of the file that holds one, or a part; `path`: of that file alone (NULL: any). */
static const struct mapping *mapping_of(struct runtime_tables *t, const struct process *p,
					const char *path, bool of_part,
					const struct holder **ret_holder)
{
	const struct mappings *m = p->mappings;

	for (uint32_t i = 0; m && i < m->n; i++) {
		const struct mapped_file *f = m->items[i].file;

		if (!f || (path && strcmp(path, f->path) != 0))
			continue;
		struct holder *h = holder_find(t, f->id);
		if (!h || is_part(&h->file) != of_part)
			continue;
		list_remove(&h->age);
		list_push_back(&t->by_age, &h->age);
		*ret_holder = h;
		return &m->items[i];
	}
	return NULL;
}

uint64_t runtime_tables_files(struct runtime_tables *t, const struct process *p)
{
	const struct holder *h = NULL, *part = NULL;

	if (!t->holders.n || !mapping_of(t, p, NULL, false, &h))
		return 0;
	if (!mapping_of(t, p, NULL, true, &part))
		return h->file_id;
	return (uint64_t)part->file_id << 32 | h->file_id;
}

bool runtime_tables_of(const struct runtime_tables *t, uint32_t pid, enum runtime_kind kind,
		       struct wire_runtime *ret_runtime)
{
	return bpf_map_lookup_elem(t->maps.runtimes_fd, &pid, ret_runtime) == 0 &&
	       ret_runtime->kind == kind;
}

static uint32_t published_kind(const struct runtime_tables *t, uint32_t pid)
{
	struct wire_runtime wire;

	return bpf_map_lookup_elem(t->maps.runtimes_fd, &pid, &wire) == 0 ? wire.kind
									  : RUNTIME_NONE;
}

static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	return thread_memory_read(data, addr, dst, n);
}

static bool ask_runtime(struct wire_runtime *wire, uint32_t pid)
{
	const struct runtime *runtime = runtime_of(wire->kind);
	struct thread_memory of_process = { .pid = pid, .tid = pid };
	const struct runtime_memory memory = { .read = read_memory, .data = &of_process };

	return !runtime || !runtime->publish || runtime->publish(wire, pid, &memory);
}

static void forget(uint32_t kind, uint32_t pid)
{
	const struct runtime *runtime = runtime_of(kind);

	if (runtime && runtime->retract)
		runtime->retract(pid);
}

void runtime_tables_retract(struct runtime_tables *t, uint32_t pid)
{
	forget(published_kind(t, pid), pid);
	(void)bpf_map_delete_elem(t->maps.runtimes_fd, &pid);
}

/* What another file of the process tells of the same runtime. */
static void join_part(struct runtime_tables *t, const struct process *p, struct wire_runtime *wire)
{
	const struct runtime *runtime = runtime_of(wire->kind);
	const struct holder *part = NULL;

	if (runtime && runtime->join && mapping_of(t, p, NULL, true, &part) &&
	    part->file.wire.kind == wire->kind)
		runtime->join(wire, &part->file.wire);
}

enum runtime_kind runtime_tables_publish(struct runtime_tables *t, const struct process *p)
{
	const struct holder *h = NULL;
	const struct mapping *m = t->holders.n ? mapping_of(t, p, NULL, false, &h) : NULL;

	if (!m)
		return RUNTIME_NONE;
	/* The first executable segment begins somewhere in its first page. */
	uint64_t linked = h->file.wire.base & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	struct wire_runtime wire = h->file.wire;
	wire.base = m->begin - linked;
	if (wire.flags & WIRE_RUNTIME_CLAIMS)
		wire.words[WIRE_CLAIMED_AT] += (uint64_t)h->file_id << WIRE_FRAME_OFFSET_BITS;
	join_part(t, p, &wire);
	if (published_kind(t, p->pid) != wire.kind)
		runtime_tables_retract(t, p->pid);
	if (!ask_runtime(&wire, p->pid)) {
		runtime_tables_retract(t, p->pid);
		return RUNTIME_NONE;
	}
	if (bpf_map_update_elem(t->maps.runtimes_fd, &p->pid, &wire, BPF_ANY) < 0) {
		log_debug("a runtime is not walked", LOG_ERR(-errno), LOG_UINT("pid", p->pid));
		forget(wire.kind, p->pid);
		return RUNTIME_NONE;
	}
	return (enum runtime_kind)wire.kind;
}

void runtime_tables_publish_image(struct runtime_tables *t, const struct process *p,
				  const char *exe_path, uint64_t image)
{
	const struct holder *h = NULL;

	if (image && t->holders.n && mapping_of(t, p, exe_path, false, &h))
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

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

/* One that has a list of frames, and one that generates code (bpf/runtime_beside.bpf.h). */
#define RUNTIMES_OF_PROCESS 2

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

/* A runtime of a process. */
struct mapped_runtime {
	const struct holder *holder;
	const struct mapping *mapping;
};

/*
 * The runtimes of a process, in their places: of those that have a list of frames the lowest, then of those that generate code. Which of two of one
 * sort a thread runs is not known, and the walk has room for one of each.
 */
static size_t runtimes_of(struct runtime_tables *t, const struct process *p,
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

static const struct holder *part_of(struct runtime_tables *t, const struct process *p,
				    uint32_t kind)
{
	const struct wanted w = { .of_part = true, .kind = kind };
	const struct holder *part = NULL;

	return mapping_of(t, p, &w, &part) ? part : NULL;
}

uint64_t runtime_tables_files(struct runtime_tables *t, const struct process *p)
{
	struct mapped_runtime runtimes[RUNTIMES_OF_PROCESS];
	size_t n = runtimes_of(t, p, runtimes);
	uint64_t files = 0;

	for (size_t i = 0; i < n; i++) {
		const struct holder *h = runtimes[i].holder;
		const struct holder *part = part_of(t, p, h->file.wire.kind);

		files = hash_u64(files ^ h->file_id) | 1;
		files = part ? hash_u64(files ^ part->file_id) | 1 : files;
	}
	return files;
}

static bool look_up(const struct runtime_tables *t, uint32_t pid, uint32_t place,
		    struct wire_runtime *ret_runtime)
{
	uint64_t key = wire_runtime_key(pid, place);

	return bpf_map_lookup_elem(t->maps.runtimes_fd, &key, ret_runtime) == 0;
}

bool runtime_tables_of(const struct runtime_tables *t, uint32_t pid, enum runtime_kind kind,
		       struct wire_runtime *ret_runtime)
{
	for (uint32_t place = 0; place < RUNTIMES_OF_PROCESS; place++)
		if (look_up(t, pid, place, ret_runtime) && ret_runtime->kind == kind)
			return true;
	return false;
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

/* What another file of the process tells of the same runtime. */
static void join_part(struct runtime_tables *t, const struct process *p, struct wire_runtime *wire)
{
	const struct runtime *runtime = runtime_of(wire->kind);
	const struct holder *part = runtime && runtime->join ? part_of(t, p, wire->kind) : NULL;

	if (part)
		runtime->join(wire, &part->file.wire);
}

/* What is told of it, but for its place. False: it cannot be told, for now. */
static bool fill(struct runtime_tables *t, const struct process *p, const struct mapped_runtime *r,
		 struct wire_runtime *ret_wire)
{
	const struct holder *h = r->holder;
	/* The first executable segment begins somewhere in its first page. */
	uint64_t linked = h->file.wire.base & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);

	*ret_wire = h->file.wire;
	ret_wire->base = r->mapping->begin - linked;
	if (ret_wire->flags & WIRE_RUNTIME_CLAIMS)
		ret_wire->words[WIRE_CLAIMED_AT] += (uint64_t)h->file_id << WIRE_FRAME_OFFSET_BITS;
	join_part(t, p, ret_wire);
	return ask_runtime(ret_wire, p->pid);
}

static bool put(struct runtime_tables *t, uint32_t pid, uint32_t place,
		const struct wire_runtime *wire)
{
	uint64_t key = wire_runtime_key(pid, place);

	if (bpf_map_update_elem(t->maps.runtimes_fd, &key, wire, BPF_ANY) == 0)
		return true;
	log_debug("a runtime is not walked", LOG_ERR(-errno), LOG_UINT("pid", pid));
	(void)bpf_map_delete_elem(t->maps.runtimes_fd, &key);
	forget(wire->kind, pid);
	return false;
}

static bool has_kind(const struct wire_runtime *wires, size_t n, uint32_t kind)
{
	for (size_t i = 0; i < n; i++)
		if (wires[i].kind == kind)
			return true;
	return false;
}

/* What was told and is not any more: runtimes, and places. */
static void retract_others(struct runtime_tables *t, uint32_t pid, const struct wire_runtime *wires,
			   size_t n)
{
	for (uint32_t place = 0; place < RUNTIMES_OF_PROCESS; place++) {
		uint64_t key = wire_runtime_key(pid, place);
		struct wire_runtime had;

		if (!look_up(t, pid, place, &had))
			continue;
		if (!has_kind(wires, n, had.kind))
			forget(had.kind, pid);
		if (place >= n)
			(void)bpf_map_delete_elem(t->maps.runtimes_fd, &key);
	}
}

void runtime_tables_retract(struct runtime_tables *t, uint32_t pid)
{
	retract_others(t, pid, NULL, 0);
}

enum runtime_kind runtime_tables_publish(struct runtime_tables *t, const struct process *p,
					 bool *ret_all)
{
	struct mapped_runtime runtimes[RUNTIMES_OF_PROCESS];
	struct wire_runtime wires[RUNTIMES_OF_PROCESS];
	size_t n_mapped = runtimes_of(t, p, runtimes), n = 0;

	for (size_t i = 0; i < n_mapped; i++)
		n += fill(t, p, &runtimes[i], &wires[n]);
	retract_others(t, p->pid, wires, n);
	/* The one beside is there before the first says so. */
	while (n > 1 && !put(t, p->pid, n - 1, &wires[n - 1]))
		n--;
	if (n > 1)
		wires[0].flags |= WIRE_RUNTIME_IS_FIRST;
	if (n && !put(t, p->pid, 0, &wires[0])) {
		runtime_tables_retract(t, p->pid);
		n = 0;
	}
	*ret_all = n == n_mapped;
	return n ? (enum runtime_kind)wires[0].kind : RUNTIME_NONE;
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

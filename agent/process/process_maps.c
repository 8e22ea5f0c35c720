/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: what a process has mapped.
 *
 * Three sources make one history. A fork gives the parent's set; an exec empties it and every
 * executable mapping comes as an event from then on; for a process that was there before us
 * /proc/PID/maps is read once (process_read.c) and events add to it. munmap(2) and mremap(2) are not reported by the
 * kernel: what was unmapped stays in the set until something is mapped over it, which harms nobody,
 * since no pc lies there.
 *
 * Anonymous memory is what it is called, until the comparison of process_text.c says otherwise.
 */
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "agent/process/mapping_edit.h"
#include "agent/process/process_private.h"

void process_set_mappings(struct process_table *t, struct process *p, struct mappings *m)
{
	mappings_unref(p->mappings);
	p->mappings = m;
	if (++p->generation == 0)
		p->generation = 1;
	if (t->hooks.on_mappings)
		t->hooks.on_mappings(p, t->hooks.data);
}

void process_mapping_from(struct process_table *t, const struct maps_entry *e,
			  uint64_t inode_generation, uint64_t mapped_ns,
			  struct mapping *ret_mapping)
{
	struct mapping m = {
		.begin = e->begin, .end = e->end, .file_off = e->file_off, .kind = e->kind
	};
	struct file_facts facts = {
		.key = { .dev = e->dev, .inode = e->inode },
		.generation = inode_generation,
		.path = e->kind == MAPPING_VDSO ? STR_LIT("[vdso]") : e->path,
		.deleted = e->deleted,
		.vdso = e->kind == MAPPING_VDSO,
		.mapped_ns = mapped_ns,
	};

	if (m.kind != MAPPING_ANON && file_table_get(t->files, &facts, &m.file) < 0)
		m.kind = MAPPING_ANON;
	if (m.kind == MAPPING_ANON) {
		m.file_off = 0;
		m.name = file_table_name(t->files, e->name);
	}
	*ret_mapping = m;
}

void process_claim_text(struct remapped_texts **claims, const struct mappings *set,
			const struct mapping *m)
{
	if (m->kind != MAPPING_ANON || !mappings_hold_text(set, m->begin, m->end) ||
	    (!*claims && remapped_texts_new(claims) < 0))
		return;
	remapped_texts_cover(*claims, set, m->begin, m->end);
}

void process_set_claims(struct process *p, struct remapped_texts *claims)
{
	remapped_texts_free(p->remapped_texts);
	p->remapped_texts = claims;
}

static void set_exe_file(struct process *p, struct mapped_file *f)
{
	mapped_file_unref(p->exe_file);
	p->exe_file = f ? mapped_file_ref(f) : NULL;
}

void process_inherit_mappings(struct process_table *t, struct process *child,
			      struct process *parent)
{
	struct remapped_texts *claims = NULL;

	set_exe_file(child, parent->exe_file);
	if (!parent->mappings)
		return;
	/* Its own doubt is not ended by what another one has. */
	child->is_in_doubt |= process_is_in_doubt(t, parent);
	if (parent->remapped_texts)
		(void)remapped_texts_copy(parent->remapped_texts, &claims);
	process_set_claims(child, claims);
	process_set_mappings(t, child, mappings_ref(parent->mappings));
}

static void empty_mappings(struct process_table *t, struct process *p)
{
	struct mapping_edit none = { 0 };
	struct mappings *m;

	process_set_claims(p, NULL);
	if (mapping_edit_finish(&none, &m) == 0)
		process_set_mappings(t, p, m);
}

void process_apply_exec(struct process_table *t, struct process *p, const struct process_event *ev)
{
	p->exec_ns = ev->time_ns;
	p->exec_missed = false;
	p->exe_wanted = true;
	set_exe_file(p, NULL);
	str_copy_utf8(p->comm_hint, sizeof(p->comm_hint),
		      (struct str){ ev->comm, strnlen(ev->comm, sizeof(ev->comm)) });
	/* From here on every mapping comes by an event. What was read since shows the image too, but as it is later: a library may have taken
	 * another one's place, and samples of before are still to come. */
	process_drop_ahead(p);
	p->maps_read_ns = 0;
	p->replaced_ns = 0;
	p->is_in_doubt = false;
	p->losses = t->losses;
	empty_mappings(t, p);
	/* Even if it was read since: it may be of an image after this one, whose exec is still to come. */
	process_unload_identity(p);
	p->exec_count++;
	if (t->hooks.on_exec)
		t->hooks.on_exec(p, t->hooks.data);
}

static int put_mapping(struct process *p, const struct mapping *m, struct mappings **ret_mappings)
{
	_cleanup_mapping_edit_ struct mapping_edit edit = { 0 };
	int r = mapping_edit_init(&edit, p->mappings);

	if (r == 0)
		r = mapping_edit_put(&edit, m);
	if (r < 0) {
		mapped_file_unref(m->file);
		return r;
	}
	return mapping_edit_finish(&edit, ret_mappings);
}

/* Whoever maps code without a file again and again, as JITs do, pays one search for this. */
static void update_claims(struct process *p, const struct mapping *m)
{
	if (m->kind != MAPPING_ANON)
		remapped_texts_drop(p->remapped_texts, m->begin, m->end);
	remapped_texts_renew(p->remapped_texts, m->begin, m->end);
	process_claim_text(&p->remapped_texts, p->mappings, m);
}

static void add_mapping(struct process_table *t, struct process *p, const struct mapping *m,
			uint64_t time_ns)
{
	struct mappings *set;

	update_claims(p, m);
	if (mappings_differ(p->mappings, m))
		p->replaced_ns = time_ns;
	if (mappings_cover(p->mappings, m) || !process_may_copy(t, p, time_ns))
		mapped_file_unref(m->file);
	else if (put_mapping(p, m, &set) == 0)
		process_set_mappings(t, p, set);
	else
		telemetry_count(t->telemetry, TELEMETRY_process_read_errors, 1);
}

void process_apply_mmap(struct process_table *t, struct process *p, const struct process_event *ev)
{
	struct maps_entry e = {
		.begin = ev->begin,
		.end = ev->begin + ev->len,
		.file_off = ev->file_off,
		.dev = makedev(ev->dev_major, ev->dev_minor),
		.inode = ev->inode,
	};

	process_catch_up(t, p, ev->time_ns);
	/* Not known at all: they will be read when it is sampled. Older than what was read: it is
	 * in there, or gone again. */
	bool wanted = p->mappings && ev->time_ns >= p->maps_read_ns;
	struct mapping m;

	if (!wanted && !p->exe_wanted)
		return;
	if (e.end <= e.begin || !maps_classify(str_from(ev->path ? ev->path : ""), &e))
		return;
	process_mapping_from(t, &e, ev->inode_generation, ev->time_ns, &m);
	if (m.kind == MAPPING_FILE && p->exe_wanted) {
		set_exe_file(p, m.file);
		p->exe_wanted = false;
		process_learn_exe(p);
	}
	if (wanted)
		add_mapping(t, p, &m, ev->time_ns);
	else
		mapped_file_unref(m.file);
}

/* The parent's set of now holds what the child got, unless the parent has changed its image since.
 */
void process_borrow_mappings(struct process_table *t, struct process *p)
{
	struct process *child = p;

	for (int i = 0; i < PROCESS_MAX_ANCESTORS; i++) {
		struct process *parent = process_parent(t, child);

		if (!parent || parent->exec_ns > child->start_ns)
			return;
		/* Itself never sampled, but alive: who forks and waits. */
		bool is_due = !parent->maps_tried || process_is_outdated(t, parent);
		if (!parent->mappings && is_due && !parent->exited)
			(void)process_reread(t, parent);
		if (parent->mappings) {
			process_inherit_mappings(t, p, parent);
			return;
		}
		child = parent;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: what a process has mapped.
 *
 * Three sources make one history. A fork gives the parent's set; an exec empties it and every
 * executable mapping comes as an event from then on; for a process that was there before us
 * /proc/PID/maps is read once and events add to it. munmap(2) and mremap(2) are not reported by the
 * kernel: what was unmapped stays in the set until something is mapped over it, which harms nobody,
 * since no pc lies there.
 *
 * Anonymous memory is what it is called, until the comparison of process_text.c says otherwise.
 */
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/process/mapping_edit.h"
#include "agent/process/process_private.h"
#include "agent/util/clock.h"

void process_set_mappings(struct process_table *t, struct process *p, struct mappings *m)
{
	mappings_unref(p->mappings);
	p->mappings = m;
	if (++p->generation == 0)
		p->generation = 1;
	if (t->hooks.on_mappings)
		t->hooks.on_mappings(p, t->hooks.data);
}

/* Memory whose file finds no place in the file table is as good as anonymous. */
static void mapping_from(struct process_table *t, const struct maps_entry *e,
			 uint64_t inode_generation, struct mapping *ret_mapping)
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
	};

	if (m.kind != MAPPING_ANON && file_table_get(t->files, &facts, &m.file) < 0)
		m.kind = MAPPING_ANON;
	if (m.kind == MAPPING_ANON) {
		m.file_off = 0;
		m.name = file_table_name(t->files, e->name);
	}
	*ret_mapping = m;
}

struct maps_load {
	struct process_table *t;
	const struct mappings *known; /* borrowed: what the process had mapped; NULL: not known */
	struct mapping_edit edit;
	struct text_scan scan;
	struct text_claims *claims; /* owned; NULL: none */
	int error;
};

/* A claim that there is no memory for, or no place in the file table, is none. */
static void load_claim(const struct text_guess *guess, const struct maps_entry *file, void *data)
{
	struct maps_load *load = data;
	struct text_claim claim = { .guess = *guess,
				    .beside_begin = file->begin,
				    .beside_end = file->end };
	struct mapping m;

	if (!load->claims && text_claims_new(&load->claims) < 0)
		return;
	mapping_from(load->t, file, 0, &m);
	claim.file = m.file;
	if (claim.file)
		text_claims_add(load->claims, &claim);
}

/* Claims what `set` holds where m is now. */
static void claim_text(struct text_claims **claims, const struct mappings *set,
		       const struct mapping *m)
{
	if (m->kind != MAPPING_ANON || !mappings_hold_text(set, m->begin, m->end) ||
	    (!*claims && text_claims_new(claims) < 0))
		return;
	text_claims_cover(*claims, set, m->begin, m->end);
}

static bool load_entry(const struct maps_entry *e, void *data)
{
	struct maps_load *load = data;
	struct mapping m;

	text_scan_entry(&load->scan, e);
	if (!e->executable)
		return true;
	mapping_from(load->t, e, 0, &m);
	claim_text(&load->claims, load->known, &m);
	load->error = mapping_edit_put(&load->edit, &m);
	if (load->error < 0)
		mapped_file_unref(m.file);
	return load->error == 0;
}

static bool same_mappings(const struct mappings *a, const struct mappings *b)
{
	if (!a || a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct mapping *x = &a->items[i];
		const struct mapping *y = &b->items[i];

		if (x->begin != y->begin || x->end != y->end || x->file_off != y->file_off ||
		    x->kind != y->kind || x->file != y->file || x->name != y->name)
			return false;
	}
	return true;
}

/* Consumes claims. */
static void set_claims(struct process *p, struct text_claims *claims)
{
	text_claims_free(p->text_claims);
	p->text_claims = claims;
}

static int load_maps(struct maps_load *load, struct process *p, const struct proc *proc)
{
	load->known = p->mappings;
	load->scan.page = (uint64_t)sysconf(_SC_PAGESIZE);
	load->scan.fn = load_claim;
	load->scan.data = load;
	int r = proc_read_maps(proc, load_entry, load);
	r = load->error < 0 ? load->error : r;
	if (r < 0)
		return r;
	text_scan_entry(&load->scan, NULL);
	set_claims(p, TAKE_PTR(load->claims));
	if (p->text_claims)
		(void)process_settle_claims(load->t, p, proc, &load->edit);
	return 0;
}

int process_read_maps(struct process_table *t, struct process *p, const struct proc *proc)
{
	struct maps_load load = { .t = t };
	_cleanup_(mappings_unrefp) struct mappings *m = NULL;
	uint64_t now_ns = clock_mono_ns();
	int r = load_maps(&load, p, proc);

	if (r == 0)
		r = mapping_edit_finish(&load.edit, &m);
	mapping_edit_fini(&load.edit);
	text_claims_free(load.claims);
	if (r < 0)
		return r;
	p->maps_read_ns = now_ns;
	if (!same_mappings(p->mappings, m))
		process_set_mappings(t, p, TAKE_PTR(m));
	return 0;
}

static void set_exe_file(struct process *p, struct mapped_file *f)
{
	mapped_file_unref(p->exe_file);
	p->exe_file = f ? mapped_file_ref(f) : NULL;
}

void process_inherit_mappings(struct process_table *t, struct process *child,
			      struct process *parent)
{
	struct text_claims *claims = NULL;

	set_exe_file(child, parent->exe_file);
	if (!parent->mappings)
		return;
	if (parent->text_claims)
		(void)text_claims_copy(parent->text_claims, &claims);
	set_claims(child, claims);
	process_set_mappings(t, child, mappings_ref(parent->mappings));
}

static void empty_mappings(struct process_table *t, struct process *p)
{
	struct mapping_edit none = { 0 };
	struct mappings *m;

	set_claims(p, NULL);
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
	p->maps_read_ns = 0;
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
		text_claims_drop(p->text_claims, m->begin, m->end);
	text_claims_renew(p->text_claims, m->begin, m->end);
	claim_text(&p->text_claims, p->mappings, m);
}

static void add_mapping(struct process_table *t, struct process *p, const struct mapping *m)
{
	struct mappings *set;

	update_claims(p, m);
	if (mappings_cover(p->mappings, m))
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
	/* Not known at all: they will be read when it is sampled. Older than what was read: it is
	 * in there, or gone again. */
	bool wanted = p->mappings && ev->time_ns >= p->maps_read_ns;
	struct mapping m;

	if (!wanted && !p->exe_wanted)
		return;
	if (e.end <= e.begin || !maps_classify(str_from(ev->path ? ev->path : ""), &e))
		return;
	mapping_from(t, &e, ev->inode_generation, &m);
	if (m.kind == MAPPING_FILE && p->exe_wanted) {
		set_exe_file(p, m.file);
		p->exe_wanted = false;
		process_learn_exe(p);
	}
	if (wanted)
		add_mapping(t, p, &m);
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
		if (!parent->mappings && !parent->maps_tried && !parent->exited)
			(void)process_reread(t, parent);
		if (parent->mappings) {
			process_inherit_mappings(t, p, parent);
			return;
		}
		child = parent;
	}
}

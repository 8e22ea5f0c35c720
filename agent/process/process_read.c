/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: what /proc/PID/maps shows of a process, and from when on that holds.
 *
 * It is read while events and samples of some time before are still to be handled. Of a process that is known they go on with what is known,
 * as events change it, and what was read waits for its time: a program that loads one library where another one was would otherwise be seen
 * with one that came later. Of who is not known at all it is all there is, and holds at once.
 */
#include <string.h>
#include <unistd.h>

#include "agent/process/mapping_edit.h"
#include "agent/process/process_private.h"
#include "agent/util/clock.h"

struct maps_load {
	struct process_table *t;
	const struct mappings *known; /* borrowed: what the process had mapped; NULL: not known */
	struct mapping_edit edit;
	struct text_scan scan;
	struct remapped_texts *claims; /* owned; NULL: none */
	int error;
};

/* A claim that there is no memory for, or no place in the file table, is none. */
static void load_claim(const struct text_guess *guess, const struct maps_entry *file, void *data)
{
	struct maps_load *load = data;
	struct remapped_text claim = { .guess = *guess,
				       .beside_begin = file->begin,
				       .beside_end = file->end };
	struct mapping m;

	if (!load->claims && remapped_texts_new(&load->claims) < 0)
		return;
	process_mapping_from(load->t, file, 0, 0, &m);
	claim.file = m.file;
	if (claim.file)
		remapped_texts_add(load->claims, &claim);
}

static bool load_entry(const struct maps_entry *e, void *data)
{
	struct maps_load *load = data;
	struct mapping m;

	text_scan_entry(&load->scan, e);
	if (!e->executable)
		return true;
	process_mapping_from(load->t, e, 0, 0, &m);
	process_claim_text(&load->claims, load->known, &m);
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

/* Consumes both. What is known already is held as the same set. */
static void hold_maps(struct process *p, struct mappings *m, struct remapped_texts *claims)
{
	process_drop_ahead(p);
	p->mappings_ahead =
		same_mappings(p->mappings, m) ? mappings_ref(p->mappings) : mappings_ref(m);
	p->claims_ahead = claims;
	mappings_unref(m);
}

static void take_ahead(struct process_table *t, struct process *p)
{
	_cleanup_(mappings_unrefp) struct mappings *m = TAKE_PTR(p->mappings_ahead);

	p->maps_read_ns = p->ahead_ns;
	process_set_claims(p, TAKE_PTR(p->claims_ahead));
	if (!same_mappings(p->mappings, m))
		process_set_mappings(t, p, TAKE_PTR(m));
}

void process_catch_up(struct process_table *t, struct process *p, uint64_t time_ns)
{
	if (p->mappings_ahead && time_ns >= p->ahead_ns)
		take_ahead(t, p);
}

void process_drop_ahead(struct process *p)
{
	mappings_unref(TAKE_PTR(p->mappings_ahead));
	remapped_texts_free(TAKE_PTR(p->claims_ahead));
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
	if (load->claims)
		(void)process_settle_claims(load->t, p, load->claims, proc, &load->edit);
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
	if (r == 0) {
		hold_maps(p, TAKE_PTR(m), TAKE_PTR(load.claims));
		p->ahead_ns = now_ns;
		if (!p->mappings)
			take_ahead(t, p);
	}
	remapped_texts_free(load.claims);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One profile: its references, and its forms. */
#include "agent/encode/profile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static int (*const encoders[FORM_MAX])(const struct profile *p, struct pprof_bytes *ret_bytes) = {
#define PROFILE_FORM(NAME, name) [FORM_##NAME] = encode_##name,
	PROFILE_FORMS(PROFILE_FORM)
#undef PROFILE_FORM
};

int profile_new(struct pprof_builder **tables, struct labels *labels, uint64_t n_samples,
		uint64_t time_ns, struct profile **ret_profile)
{
	_cleanup_(pprof_builder_freep) struct pprof_builder *owned = TAKE_PTR(*tables);
	struct profile *p = calloc(1, sizeof(*p));

	assert(owned);
	if (!p)
		return -ENOMEM;
	pprof_builder_freeze(owned);
	p->n_refs = 1;
	p->labels = labels ? labels_ref(labels) : NULL;
	p->n_samples = n_samples;
	p->time_ns = time_ns;
	p->tables = TAKE_PTR(owned);
	*ret_profile = p;
	return 0;
}

int profile_of_pprof(struct shared_bytes *pprof, struct labels *labels, uint64_t time_ns,
		     struct profile **ret_profile)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->n_refs = 1;
	p->labels = labels_ref(labels);
	p->time_ns = time_ns;
	p->forms[FORM_PPROF] = shared_bytes_ref(pprof);
	p->is_foreign = true;
	*ret_profile = p;
	return 0;
}

struct profile *profile_ref(struct profile *p)
{
	unsigned int before = atomic_fetch_add_explicit(&p->n_refs, 1, memory_order_relaxed);

	assert(before > 0);
	return p;
}

/* Whoever drops the last one sees what all others did before they dropped theirs. */
void profile_unref(struct profile *p)
{
	if (!p)
		return;
	unsigned int before = atomic_fetch_sub_explicit(&p->n_refs, 1, memory_order_acq_rel);

	assert(before > 0);
	if (before > 1)
		return;
	if (!p->of)
		pprof_builder_free(p->tables);
	profile_unref(p->of);
	for (size_t i = 0; i < FORM_MAX; i++)
		shared_bytes_unref(p->forms[i]);
	labels_unref(p->labels);
	free(p);
}

void profile_set_labels(struct profile *p, struct labels *labels)
{
	assert(labels && atomic_load(&p->n_refs) == 1);
	labels_ref(labels);
	labels_unref(p->labels);
	p->labels = labels;
}

int profile_relabelled(struct profile *p, struct labels *labels, struct profile **ret_profile)
{
	struct profile *other = calloc(1, sizeof(*other));

	if (!other)
		return -ENOMEM;
	other->n_refs = 1;
	other->labels = labels_ref(labels);
	other->n_samples = p->n_samples;
	other->time_ns = p->time_ns;
	other->spread_ns = p->spread_ns;
	other->tables = p->tables;
	for (size_t i = 0; i < FORM_MAX; i++)
		other->forms[i] = p->forms[i] ? shared_bytes_ref(p->forms[i]) : NULL;
	other->is_foreign = p->is_foreign;
	other->of = profile_ref(p);
	*ret_profile = other;
	return 0;
}

void profile_lend_tables(struct profile *p, struct pprof_builder **tables)
{
	assert(atomic_load(&p->n_refs) == 1 && !p->of && !p->tables);
	pprof_builder_freeze(*tables);
	p->n_samples = pprof_builder_n_samples(*tables);
	p->tables = TAKE_PTR(*tables);
}

int profile_encode(const struct profile *p, enum profile_form form, struct pprof_bytes *ret_bytes)
{
	assert(form < FORM_MAX);
	return p->tables ? encoders[form](p, ret_bytes) : -ENODATA;
}

int profile_make(struct profile *p, enum profile_form form)
{
	struct pprof_bytes bytes;

	assert(form < FORM_MAX && atomic_load(&p->n_refs) == 1);
	if (p->forms[form])
		return 0;
	int r = profile_encode(p, form, &bytes);
	return r < 0 ? r : shared_bytes_new(bytes.data, bytes.n, &p->forms[form]);
}

struct shared_bytes *profile_form(const struct profile *p, enum profile_form form)
{
	assert(form < FORM_MAX);
	return p->forms[form];
}

size_t profile_form_bytes(const struct profile *p, enum profile_form form)
{
	assert(form < FORM_MAX);
	return p->forms[form] ? p->forms[form]->n : 0;
}

void profile_drop_tables(struct profile *p)
{
	assert(atomic_load(&p->n_refs) == 1 && !p->of);
	pprof_builder_free(p->tables);
	p->tables = NULL;
}

size_t profile_memory_bytes(const struct profile *p)
{
	size_t n = sizeof(*p) + (p->tables ? pprof_builder_memory_bytes(p->tables) : 0);

	for (size_t i = 0; i < FORM_MAX; i++)
		n += profile_form_bytes(p, i);
	return n;
}

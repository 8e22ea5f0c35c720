/* SPDX-License-Identifier: Apache-2.0 */
/* One profile on its way out. */
#include "agent/push/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/clock.h"

static size_t labels_bytes(const struct push_labels *labels)
{
	size_t n = labels->n * sizeof(struct push_label);

	for (size_t i = 0; i < labels->n; i++)
		n += strlen(labels->items[i].name) + strlen(labels->items[i].value) + 2;
	return n;
}

static const char *put_text(char **at, const char *text)
{
	size_t n = strlen(text) + 1;
	const char *copy = memcpy(*at, text, n);

	*at += n;
	return copy;
}

static void copy_labels(struct push_profile *p, const struct push_labels *labels)
{
	char *at = (char *)(p->labels + labels->n);

	for (; p->n_labels < labels->n; p->n_labels++) {
		const struct push_label *from = &labels->items[p->n_labels];
		struct push_label *to = &p->labels[p->n_labels];

		to->name = put_text(&at, from->name);
		to->value = put_text(&at, from->value);
	}
}

int push_profile_new(const struct push_labels *labels, struct shared_bytes *bytes,
		     struct push_profile **ret_profile)
{
	_cleanup_(push_profile_unrefp) struct push_profile *p = calloc(1, sizeof(*p));
	size_t n_labels = labels_bytes(labels);

	if (!p)
		return -ENOMEM;
	p->n_refs = 1;
	if (bytes->n > PUSH_MAX_PROFILE_BYTES)
		return -EMSGSIZE;
	p->labels = malloc(n_labels + 1);
	if (!p->labels)
		return -ENOMEM;
	copy_labels(p, labels);
	p->bytes = shared_bytes_ref(bytes);
	p->n = bytes->n + n_labels;
	*ret_profile = TAKE_PTR(p);
	return 0;
}

uint64_t push_profile_age_ns(const struct push_profile *p)
{
	uint64_t now_ns = clock_mono_ns();

	return now_ns > p->begin_ns ? now_ns - p->begin_ns : 0;
}

struct push_profile *push_profile_ref(struct push_profile *p)
{
	p->n_refs++;
	return p;
}

void push_profile_unref(struct push_profile *p)
{
	if (!p || --p->n_refs > 0)
		return;
	if (p->total)
		metric_observe(p->total, (double)push_profile_age_ns(p) / NS_PER_S);
	shared_bytes_unref(p->bytes);
	free(p->labels);
	free(p);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Label sets. */
#include "agent/target/label.h"

#include <assert.h>
#include <string.h>

#include "agent/util/hash.h"

/* By name, then by place in the array that the pointers point into. */
static int label_compare(const void *a, const void *b)
{
	const struct label *x = *(const struct label *const *)a;
	const struct label *y = *(const struct label *const *)b;
	int r = strcmp(x->name, y->name);

	return r ? r : (x > y) - (x < y);
}

/* Keeps the last of each name, if it has a value. Returns how many are left. */
static size_t keep_last(const struct label **sorted, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && strcmp(sorted[i]->name, sorted[i + 1]->name) == 0)
			continue;
		if (sorted[i]->value[0])
			sorted[kept++] = sorted[i];
	}
	return kept;
}

static char *copy_string(char *at, const char *s, const char **ret_copy)
{
	size_t size = strlen(s) + 1;

	memcpy(at, s, size);
	*ret_copy = at;
	return at + size;
}

/* The texts that `from`, sorted too, has already; NULL for those that are to be copied. Returns the bytes of these. */
static size_t find_shared(const struct labels *from, const struct label *const *sorted, size_t n,
			  struct label *ret_shared)
{
	size_t at = 0, n_bytes = 0;

	for (size_t i = 0; i < n; i++) {
		struct label *shared = &ret_shared[i];
		int order = -1;

		*shared = (struct label){ 0 };
		while (from && at < from->n &&
		       (order = strcmp(from->items[at].name, sorted[i]->name)) < 0)
			at++;
		if (order == 0)
			shared->name = from->items[at].name;
		if (order == 0 && from->items[at].value == sorted[i]->value)
			shared->value = sorted[i]->value;
		n_bytes += shared->name ? 0 : strlen(sorted[i]->name) + 1;
		n_bytes += shared->value ? 0 : strlen(sorted[i]->value) + 1;
	}
	return n_bytes;
}

static uint64_t hash_items(const struct label *items, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++) {
		h = hash_bytes(items[i].name, strlen(items[i].name), h);
		h = hash_bytes(items[i].value, strlen(items[i].value), h);
	}
	return h;
}

static struct labels *labels_alloc(size_t n, size_t n_bytes)
{
	struct labels *l = malloc(sizeof(*l) + n * sizeof(l->items[0]) + n_bytes);

	if (!l)
		return NULL;
	l->n_refs = 1;
	l->n = n;
	l->of[0] = l->of[1] = NULL;
	return l;
}

static struct labels *labels_make(struct labels *from, const struct label *const *sorted, size_t n)
{
	struct label shared[LABELS_RAW_MAX];
	size_t n_bytes = find_shared(from, sorted, n, shared);
	struct labels *l = labels_alloc(n, n_bytes);

	if (!l)
		return NULL;
	char *end = (char *)&l->items[n];
	for (size_t i = 0; i < n; i++) {
		l->items[i] = shared[i];
		if (!shared[i].name)
			end = copy_string(end, sorted[i]->name, &l->items[i].name);
		if (!shared[i].value)
			end = copy_string(end, sorted[i]->value, &l->items[i].value);
	}
	assert(end == (char *)&l->items[n] + n_bytes);
	l->hash = hash_items(l->items, n);
	l->of[0] = from ? labels_ref(from) : NULL;
	return l;
}

int labels_derive(struct labels *from, const struct label *items, size_t n,
		  struct labels **ret_labels)
{
	const struct label *sorted[LABELS_RAW_MAX];

	if (n > LABELS_RAW_MAX)
		return -E2BIG;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &items[i];
	if (n > 1)
		qsort(sorted, n, sizeof(sorted[0]), label_compare);

	struct labels *l = labels_make(from, sorted, keep_last(sorted, n));
	if (!l)
		return -ENOMEM;
	*ret_labels = l;
	return 0;
}

int labels_new(const struct label *items, size_t n, struct labels **ret_labels)
{
	return labels_derive(NULL, items, n, ret_labels);
}

/* < 0: the next name is of `base`; > 0: of `over`; 0: of both. */
static int merge_order(const struct labels *base, size_t i, const struct labels *over, size_t j)
{
	if (i == base->n)
		return 1;
	if (j == over->n)
		return -1;
	return strcmp(base->items[i].name, over->items[j].name);
}

int labels_merge(struct labels *base, struct labels *over, struct labels **ret_labels)
{
	struct label merged[LABELS_RAW_MAX];
	size_t n = 0, i = 0, j = 0;

	while (i < base->n || j < over->n) {
		int order = merge_order(base, i, over, j);

		if (n == LABELS_RAW_MAX)
			return -E2BIG;
		merged[n++] = order < 0 ? base->items[i] : over->items[j];
		i += order <= 0;
		j += order >= 0;
	}
	struct labels *l = labels_alloc(n, 0);
	if (!l)
		return -ENOMEM;
	memcpy(l->items, merged, n * sizeof(merged[0]));
	l->hash = hash_items(merged, n);
	l->of[0] = labels_ref(base);
	l->of[1] = labels_ref(over);
	*ret_labels = l;
	return 0;
}

struct labels *labels_ref(struct labels *l)
{
	assert(l->n_refs > 0);
	l->n_refs++;
	return l;
}

/* Calls itself as deep as sets were made of sets: a discovery, its join, each discovery.relabel behind it. */
void labels_unref(struct labels *l)
{
	if (!l)
		return;
	assert(l->n_refs > 0);
	if (--l->n_refs > 0)
		return;
	labels_unref(l->of[0]);
	labels_unref(l->of[1]);
	free(l);
}

void labels_array_free(struct labels **array, size_t n)
{
	assert(array || n == 0);
	for (size_t i = 0; i < n; i++)
		labels_unref(array[i]);
	free(array);
}

const char *labels_get(const struct labels *l, const char *name)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(l->items[mid].name, name);

		if (order == 0)
			return l->items[mid].value;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

bool labels_equal(const struct labels *a, const struct labels *b)
{
	if (a == b)
		return true;
	if (a->hash != b->hash || a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->items[i].name, b->items[i].name) != 0 ||
		    strcmp(a->items[i].value, b->items[i].value) != 0)
			return false;
	return true;
}

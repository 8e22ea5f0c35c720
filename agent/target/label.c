/* SPDX-License-Identifier: Apache-2.0 */
/* Label sets. */
#include "agent/target/label.h"

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

static struct labels *labels_copy(const struct label *const *sorted, size_t n)
{
	size_t n_bytes = 0;

	for (size_t i = 0; i < n; i++)
		n_bytes += strlen(sorted[i]->name) + strlen(sorted[i]->value) + 2;
	struct labels *l = malloc(sizeof(*l) + n * sizeof(l->items[0]) + n_bytes);
	if (!l)
		return NULL;

	l->n_refs = 1;
	l->n = n;
	char *strings = (char *)&l->items[n], *end = strings;
	for (size_t i = 0; i < n; i++) {
		end = copy_string(end, sorted[i]->name, &l->items[i].name);
		end = copy_string(end, sorted[i]->value, &l->items[i].value);
	}
	l->hash = hash_bytes(strings, n_bytes, n);
	return l;
}

int labels_new(const struct label *items, size_t n, struct labels **ret_labels)
{
	const struct label *sorted[LABELS_RAW_MAX];

	if (n > LABELS_RAW_MAX)
		return -E2BIG;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &items[i];
	if (n > 1)
		qsort(sorted, n, sizeof(sorted[0]), label_compare);

	struct labels *l = labels_copy(sorted, keep_last(sorted, n));
	if (!l)
		return -ENOMEM;
	*ret_labels = l;
	return 0;
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

int labels_merge(const struct labels *base, const struct labels *over, struct labels **ret_labels)
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
	return labels_new(merged, n, ret_labels);
}

struct labels *labels_ref(struct labels *l)
{
	l->n_refs++;
	return l;
}

void labels_unref(struct labels *l)
{
	if (l && --l->n_refs == 0)
		free(l);
}

void labels_array_free(struct labels **array, size_t n)
{
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

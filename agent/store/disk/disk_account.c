/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a store has. */
#include "agent/store/disk/disk_account.h"

#include <stdlib.h>

#define ACCOUNT_FIRST_ITEMS 64

void disk_account_fini(struct disk_account *a)
{
	free(a->items);
	*a = (struct disk_account){ 0 };
}

static struct disk_entry *find(const struct disk_account *a, struct disk_name name)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->items[i].name.id == name.id && a->items[i].name.head == name.head)
			return &a->items[i];
	return NULL;
}

static struct disk_entry *add(struct disk_account *a)
{
	if (a->n == a->cap) {
		size_t cap = a->cap ? a->cap * 2 : ACCOUNT_FIRST_ITEMS;
		struct disk_entry *items = reallocarray(a->items, cap, sizeof(*items));

		if (!items)
			return NULL;
		a->items = items;
		a->cap = cap;
	}
	return &a->items[a->n++];
}

void disk_account_set(struct disk_account *a, struct disk_name name, size_t bytes)
{
	struct disk_entry *e = find(a, name);

	if (!e)
		e = add(a);
	if (e)
		*e = (struct disk_entry){ name, bytes };
}

void disk_account_forget(struct disk_account *a, struct disk_name name)
{
	struct disk_entry *e = find(a, name);

	if (e)
		*e = a->items[--a->n];
}

size_t disk_account_bytes(const struct disk_account *a)
{
	size_t bytes = 0;

	for (size_t i = 0; i < a->n; i++)
		bytes += a->items[i].bytes;
	return bytes;
}

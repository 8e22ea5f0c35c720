/* SPDX-License-Identifier: Apache-2.0 */
/* Equal bytes, equal number. */
#include "agent/store/query/query_intern.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/util/hash.h"
#include "agent/util/macro.h"

#define ITEMS_MIN 64
/* More than the arena asks for at once, beside the text. */
#define CHUNK_BYTES ((size_t)128 * 1024)

uint64_t query_intern_new_seed(void)
{
	uint64_t seed = 0;

	/* Without entropy, as in the first moments of a boot, an address of this process must do. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = hash_u64((uintptr_t)&seed);
	return seed;
}

void query_intern_init(struct query_intern *in, struct query_memory *memory, size_t max_bytes)
{
	*in = (struct query_intern){ .memory = memory,
				     .seed = query_intern_new_seed(),
				     .max_bytes = max_bytes };
	arena_init(&in->arena, max_bytes);
}

void query_intern_fini(struct query_intern *in)
{
	query_free(in->items);
	query_free(in->slots.items);
	query_memory_give(in->memory, in->arena.used_bytes - in->n_unpaid_bytes);
	arena_fini(&in->arena);
	*in = (struct query_intern){ 0 };
}

size_t query_intern_bytes(const struct query_intern *in)
{
	return in->cap * sizeof(*in->items) + in->slots.n * sizeof(*in->slots.items) +
	       in->arena.used_bytes;
}

struct bytes_key {
	const void *bytes;
	size_t n;
	uint32_t hash;
};

static struct bytes_key make_key(const struct query_intern *in, const void *bytes, size_t n)
{
	return (struct bytes_key){ bytes, n, (uint32_t)hash_bytes(bytes, n, in->seed) };
}

static bool is_equal(const void *owner, uint32_t number, const void *key)
{
	const struct query_intern_item *item = &((const struct query_intern *)owner)->items[number];
	const struct bytes_key *k = key;

	return item->hash == k->hash && item->n == k->n && memcmp(item->bytes, k->bytes, k->n) == 0;
}

static uint64_t hash_of(const void *owner, uint32_t number)
{
	return ((const struct query_intern *)owner)->items[number].hash;
}

uint32_t query_intern_find(const struct query_intern *in, const void *bytes, size_t n)
{
	struct bytes_key key = make_key(in, bytes, n);

	return id_slots_find(&in->slots, key.hash, is_equal, in, &key);
}

static int grow(struct query_intern *in)
{
	size_t cap = MAX_OF(2 * in->cap, (size_t)ITEMS_MIN), n_slots = 2 * cap;
	struct query_intern_item *items;
	uint32_t *slots;

	if (cap > UINT32_MAX / 4 ||
	    cap * sizeof(*items) + n_slots * sizeof(*slots) + in->arena.used_bytes > in->max_bytes)
		return -ENOBUFS;
	items = query_realloc(in->memory, in->items, cap, sizeof(*items));
	if (!items)
		return -ENOMEM;
	in->items = items;
	slots = query_calloc(in->memory, n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	query_free(in->slots.items);
	in->slots = (struct id_slots){ slots, n_slots };
	in->cap = cap;
	id_slots_fill(&in->slots, 0, in->n, hash_of, in);
	return 0;
}

/* Chunks of the arena are in the account as they come. One that there is no room for goes with the others at the end. */
static char *copy_bytes(struct query_intern *in, const void *bytes, size_t n)
{
	size_t before = in->arena.used_bytes;
	char *copy = arena_strndup(&in->arena, bytes, n);
	size_t more = in->arena.used_bytes - before;

	if (query_memory_take(in->memory, more))
		return copy;
	in->n_unpaid_bytes += more;
	return NULL;
}

int query_intern_add(struct query_intern *in, const void *bytes, size_t n, uint32_t *ret_number)
{
	struct bytes_key key = make_key(in, bytes, n);
	int r = in->n == in->cap ? grow(in) : 0;
	uint32_t *slot;
	char *copy;

	if (r < 0)
		return r;
	assert(in->n < in->cap && 2 * in->n <= in->slots.n);
	slot = id_slots_at(&in->slots, key.hash, is_equal, in, &key);
	if (!*slot) {
		if (n >= UINT32_MAX || query_intern_bytes(in) + n > in->max_bytes)
			return -ENOBUFS;
		copy = copy_bytes(in, bytes, n);
		if (!copy)
			return in->arena.used_bytes + n + CHUNK_BYTES > in->max_bytes ? -ENOBUFS
										      : -ENOMEM;
		in->items[in->n] = (struct query_intern_item){ copy, (uint32_t)n, key.hash };
		*slot = (uint32_t)++in->n;
	}
	*ret_number = *slot - 1;
	return 0;
}

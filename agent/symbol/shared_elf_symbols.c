/* SPDX-License-Identifier: Apache-2.0 */
/* All ELF symbols, those of files with equal content once. */
#include "agent/symbol/shared_elf_symbols.h"

#include <assert.h>

void shared_elf_symbols_init(struct shared_elf_symbols *t)
{
	*t = (struct shared_elf_symbols){ 0 };
	list_init(&t->all);
}

void shared_elf_symbols_fini(struct shared_elf_symbols *t)
{
	assert(t->n == 0 && t->bytes == 0 && t->source_bytes == 0);
	hash_fini(&t->by_digest);
}

struct elf_symbols *shared_elf_symbols_find(struct shared_elf_symbols *t, uint64_t digest)
{
	HASH_FOREACH_MATCH (&t->by_digest, digest, node) {
		struct elf_symbols *elf_symbols = CONTAINER_OF(node, struct elf_symbols, node);

		elf_symbols->n_users++;
		return elf_symbols;
	}
	return NULL;
}

int shared_elf_symbols_add(struct shared_elf_symbols *t, struct elf_symbols *elf_symbols,
			   uint64_t digest)
{
	int r = digest ? hash_insert(&t->by_digest, &elf_symbols->node, digest) : 0;

	assert(elf_symbols->n_users == 0);
	if (r < 0)
		return r;
	elf_symbols->digest = digest;
	elf_symbols->n_users = 1;
	list_push_back(&t->all, &elf_symbols->all);
	t->n++;
	shared_elf_symbols_end_change(t, elf_symbols);
	return 0;
}

void shared_elf_symbols_release(struct shared_elf_symbols *t, struct elf_symbols *elf_symbols)
{
	assert(elf_symbols->n_users > 0);
	if (--elf_symbols->n_users > 0)
		return;
	if (elf_symbols->digest)
		hash_remove(&t->by_digest, &elf_symbols->node);
	list_remove(&elf_symbols->all);
	assert(t->n > 0);
	t->n--;
	shared_elf_symbols_begin_change(t, elf_symbols);
	elf_symbols_free(elf_symbols);
}

void shared_elf_symbols_begin_change(struct shared_elf_symbols *t,
				     const struct elf_symbols *elf_symbols)
{
	assert(t->bytes >= elf_symbols_bytes(elf_symbols));
	assert(t->source_bytes >= elf_symbols_source_bytes(elf_symbols));
	t->bytes -= elf_symbols_bytes(elf_symbols);
	t->source_bytes -= elf_symbols_source_bytes(elf_symbols);
}

void shared_elf_symbols_end_change(struct shared_elf_symbols *t,
				   const struct elf_symbols *elf_symbols)
{
	t->bytes += elf_symbols_bytes(elf_symbols);
	t->source_bytes += elf_symbols_source_bytes(elf_symbols);
}

static struct elf_symbols *coldest(const struct shared_elf_symbols *t,
				   const struct elf_symbols *keep, uint64_t interval)
{
	struct elf_symbols *found = NULL;

	LIST_FOREACH (&t->all, node) {
		struct elf_symbols *elf_symbols = LIST_ENTRY(node, struct elf_symbols, all);

		if (elf_symbols == keep || !elf_symbols_has_sources(elf_symbols))
			continue;
		if (!found ||
		    elf_symbols_heat(elf_symbols, interval) < elf_symbols_heat(found, interval))
			found = elf_symbols;
	}
	return found;
}

size_t shared_elf_symbols_evict_sources(struct shared_elf_symbols *t, size_t max_bytes,
					const struct elf_symbols *keep, uint64_t interval)
{
	size_t n = 0;

	while (t->bytes > max_bytes) {
		struct elf_symbols *elf_symbols = coldest(t, keep, interval);

		if (!elf_symbols)
			break;
		shared_elf_symbols_begin_change(t, elf_symbols);
		elf_symbols_drop_sources(elf_symbols);
		shared_elf_symbols_end_change(t, elf_symbols);
		n++;
	}
	return n;
}

void shared_elf_symbols_end_interval(struct shared_elf_symbols *t, uint64_t interval)
{
	LIST_FOREACH (&t->all, node) {
		struct elf_symbols *elf_symbols = LIST_ENTRY(node, struct elf_symbols, all);

		shared_elf_symbols_begin_change(t, elf_symbols);
		elf_symbols_end_interval(elf_symbols, interval);
		shared_elf_symbols_end_change(t, elf_symbols);
	}
}

void shared_elf_symbols_drop_names(struct shared_elf_symbols *t)
{
	LIST_FOREACH (&t->all, node) {
		struct elf_symbols *elf_symbols = LIST_ENTRY(node, struct elf_symbols, all);

		shared_elf_symbols_begin_change(t, elf_symbols);
		elf_symbols_drop_names(elf_symbols);
		shared_elf_symbols_end_change(t, elf_symbols);
	}
}

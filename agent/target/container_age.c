/* SPDX-License-Identifier: Apache-2.0 */
/* How long a container has been known here. */
#include "agent/target/container_age.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process/cgroup.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

struct container_age {
	struct hash_node node;
	struct list list;
	uint64_t first_ns;
	char id[CGROUP_CONTAINER_ID_MAX];
};

void container_ages_init(struct container_ages *a)
{
	a->by_id = HASH_TABLE_INIT;
	list_init(&a->oldest);
}

static void forget(struct container_ages *a, struct container_age *age)
{
	hash_remove(&a->by_id, &age->node);
	list_remove(&age->list);
	free(age);
}

void container_ages_fini(struct container_ages *a)
{
	LIST_FOREACH (&a->oldest, node)
		forget(a, LIST_ENTRY(node, struct container_age, list));
	assert(a->by_id.n == 0);
	hash_fini(&a->by_id);
}

static struct container_age *find(const struct container_ages *a, const char *id)
{
	HASH_FOREACH_MATCH (&a->by_id, hash_str(id), node) {
		struct container_age *age = CONTAINER_OF(node, struct container_age, node);

		if (strcmp(age->id, id) == 0)
			return age;
	}
	return NULL;
}

static struct container_age *remember(struct container_ages *a, const char *id, uint64_t now_ns)
{
	struct container_age *age = calloc(1, sizeof(*age));

	if (!age || hash_insert(&a->by_id, &age->node, hash_str(id)) < 0) {
		free(age);
		return NULL;
	}
	str_copy_utf8(age->id, sizeof(age->id), str_from(id));
	age->first_ns = now_ns;
	list_push_back(&a->oldest, &age->list);
	return age;
}

uint64_t container_age_ns(struct container_ages *a, const char *id, uint64_t now_ns)
{
	const struct container_age *age = find(a, id);

	if (!age) {
		age = remember(a, id, now_ns);
		if (a->by_id.n > CONTAINER_AGE_MAX)
			forget(a, LIST_ENTRY(a->oldest.next, struct container_age, list));
	}
	return age ? now_ns - age->first_ns : UINT64_MAX;
}

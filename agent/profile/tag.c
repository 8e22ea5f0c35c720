/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample tells of its process besides its series. */
#include "agent/profile/tag.h"

#include <errno.h>
#include <string.h>

#include "agent/util/macro.h"

int tag_get(struct hash_table *tags, struct arena *arena, uint32_t pid, const char *comm,
	    const struct sample_tag **ret_tag)
{
	uint64_t hash = hash_bytes(comm, strlen(comm), pid);

	HASH_FOREACH_MATCH (tags, hash, node) {
		const struct sample_tag *t = CONTAINER_OF(node, struct sample_tag, node);

		if (t->pid != pid || strcmp(t->comm, comm) != 0)
			continue;
		*ret_tag = t;
		return 0;
	}
	struct sample_tag *made = arena_alloc(arena, sizeof(*made));
	char *copy = arena_strndup(arena, comm, strlen(comm));
	if (!made || !copy)
		return -ENOMEM;
	*made = (struct sample_tag){ .pid = pid, .comm = copy };
	int r = hash_insert(tags, &made->node, hash);
	if (r < 0)
		return r;
	*ret_tag = made;
	return 0;
}

bool comm_use_parse(const char *text, enum comm_use *ret_use)
{
	static const char *const names[] = { "none", "label", "stackframe", "both" };

	if (!*text)
		text = names[COMM_NONE];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		*ret_use = (enum comm_use)i;
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample tells besides its series and its stack. */
#include "agent/profile/tag.h"

#include <errno.h>
#include <string.h>

#include "agent/util/macro.h"

static bool tag_is(const struct sample_tag *t, const struct sample_tag *of)
{
	return t->pid == of->pid && t->reason == of->reason && t->error == of->error &&
	       t->io == of->io && t->tier == of->tier && strcmp(t->comm, of->comm) == 0 &&
	       strcmp(t->thread, of->thread) == 0;
}

static uint64_t tag_hash(const struct sample_tag *of)
{
	uint64_t hash =
		hash_bytes(of->comm, strlen(of->comm),
			   of->pid + ((uint64_t)of->reason << 32) + ((uint64_t)of->error << 40) +
				   hash_u64(of->io));

	return hash_bytes(of->thread, strlen(of->thread), hash + of->tier);
}

int tag_get(struct hash_table *tags, struct arena *arena, const struct sample_tag *of,
	    const struct sample_tag **ret_tag)
{
	uint64_t hash = tag_hash(of);

	HASH_FOREACH_MATCH (tags, hash, node) {
		const struct sample_tag *t = CONTAINER_OF(node, struct sample_tag, node);

		if (!tag_is(t, of))
			continue;
		*ret_tag = t;
		return 0;
	}
	struct sample_tag *made = arena_alloc(arena, sizeof(*made));
	char *comm = arena_strndup(arena, of->comm, strlen(of->comm));
	char *thread = arena_strndup(arena, of->thread, strlen(of->thread));
	char *device = of->device ? arena_strndup(arena, of->device, strlen(of->device)) : NULL;
	if (!made || !comm || !thread || (of->device && !device))
		return -ENOMEM;
	*made = *of;
	made->comm = comm;
	made->thread = thread;
	made->device = device;
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

bool reason_use_parse(const char *text, enum reason_use *ret_use)
{
	static const char *const names[] = { "none", "label", "frame" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		*ret_use = (enum reason_use)i;
		return true;
	}
	return false;
}

const char *tier_label(uint32_t tier)
{
	static const char *const labels[WIRE_TIERS] = {
		"", "interpreted", "tier 1", "tier 2", "tier 3", "tier 4", "native",
	};

	return tier < ARRAY_SIZE(labels) ? labels[tier] : "";
}

const char *wait_reason_label(enum wait_reason reason)
{
	static const char *const labels[WAIT_REASON_MAX] = {
#define WAIT_LABEL(NAME, label, text) [WAIT_##NAME] = label,
		WAIT_REASONS(WAIT_LABEL)
#undef WAIT_LABEL
	};

	return labels[reason];
}

const char *io_operation_label(enum wire_io_operation operation)
{
	static const char *const labels[WIRE_IO_MAX] = {
#define IO_LABEL(NAME, label) [WIRE_IO_##NAME] = label,
		WIRE_IO_OPERATIONS(IO_LABEL)
#undef IO_LABEL
	};

	return labels[operation];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Counts failures of readers by the owner of the file, and refuses an owner's files for a while. */
#include "agent/dwarf/blame.h"

struct dwarf_owner dwarf_owner_of(uid_t uid, dev_t dev)
{
	return uid == 0 ? (struct dwarf_owner){ DWARF_OWNER_ROOT, dev }
			: (struct dwarf_owner){ DWARF_OWNER_USER, uid };
}

void dwarf_blame_add(struct dwarf_blame *b, struct dwarf_owner owner, uint64_t now_ns)
{
	b->entries[b->next].owner = owner;
	b->entries[b->next].time_ns = now_ns;
	b->next = (b->next + 1) % DWARF_BLAME_ENTRIES;
}

bool dwarf_blame_holds_back(const struct dwarf_blame *b, struct dwarf_owner owner, uint64_t now_ns)
{
	size_t n_of_kind[DWARF_OWNER_MAX] = { 0 };
	size_t n_own = 0;

	for (size_t i = 0; i < DWARF_BLAME_ENTRIES; i++) {
		const struct dwarf_owner *o = &b->entries[i].owner;

		if (b->entries[i].time_ns == 0 || now_ns - b->entries[i].time_ns >= DWARF_BLAME_NS)
			continue;
		n_of_kind[o->kind]++;
		n_own += o->kind == owner.kind && o->id == owner.id;
	}
	return n_own >= DWARF_MAX_FAILURES_EACH ||
	       n_of_kind[DWARF_OWNER_NOBODY] >= DWARF_MAX_FAILURES ||
	       (owner.kind == DWARF_OWNER_USER &&
		n_of_kind[DWARF_OWNER_USER] >= DWARF_MAX_FAILURES);
}

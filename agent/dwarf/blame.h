/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts failures of readers by the owner of the file, and refuses an owner's files for a while. Pure.
 *
 * A file is its owner's: of the user, who may have many file systems; root's of its file system, since root of a container is another one than
 * the host's, and has no other's. Who has failed as often as he may in a minute has no file opened until it is over. Users have a
 * bound together besides, for some have many ids (subuid(5)): what they use up is not taken from root's files, which are most programs.
 */
#ifndef XAGENT_AGENT_DWARF_BLAME_H
#define XAGENT_AGENT_DWARF_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/util/clock.h"

#define DWARF_BLAME_NS (60 * NS_PER_S)
/* One may be by accident. */
#define DWARF_MAX_FAILURES_EACH 2
/* A failure takes up to 10 s of a worker that has more to do: of the users' together, and of the server without a file. */
#define DWARF_MAX_FAILURES 4
/* Remembered: of all users, of the server, and of twelve file systems of root's. */
#define DWARF_BLAME_ENTRIES 32

enum dwarf_owner_kind {
	DWARF_OWNER_NOBODY, /* the server failed */
	DWARF_OWNER_USER,
	DWARF_OWNER_ROOT,
	DWARF_OWNER_MAX
};

struct dwarf_owner {
	enum dwarf_owner_kind kind;
	uint64_t id; /* user id, or device */
};

struct dwarf_blame {
	struct {
		struct dwarf_owner owner;
		uint64_t time_ns; /* 0: there was none */
	} entries[DWARF_BLAME_ENTRIES];
	size_t next; /* the oldest, to be overwritten */
};

struct dwarf_owner dwarf_owner_of(uid_t uid, dev_t dev);
void dwarf_blame_add(struct dwarf_blame *b, struct dwarf_owner owner, uint64_t now_ns);
/* Whether no file of the owner is to be opened now. */
bool dwarf_blame_holds_back(const struct dwarf_blame *b, struct dwarf_owner owner, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The text of /proc/PID/maps: its executable mappings, those of files beside them, and what the names
 * there mean. Pure. */
#ifndef XAGENT_AGENT_PROCESS_MAPS_H
#define XAGENT_AGENT_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/mapping.h"
#include "agent/util/str.h"

/* Longest line: six fields (below 100 bytes) and a path of which each byte may be a four-byte
 * escape, plus " (deleted)". */
#define MAPS_LINE_MAX (128 + 4 * MAPPING_PATH_MAX)

struct maps_entry {
	uint64_t begin;
	uint64_t end;
	uint64_t file_off;
	uint64_t dev; /* makedev(3) */
	uint64_t inode;
	enum mapping_kind kind;
	/* Without " (deleted)", escapes undone; "" unless MAPPING_FILE. Borrowed for the call. */
	struct str path;
	/* Of MAPPING_ANON: "[heap]", "[anon:…]"; "" when it has none. Borrowed as well. */
	struct str name;
	bool deleted;
	bool executable;
};

/* Returns false to stop. */
typedef bool (*maps_fn)(const struct maps_entry *entry, void *data);

enum maps_outcome {
	MAPS_ENTRY,	/* executable; *ret_entry is set */
	MAPS_FILE_DATA, /* not executable, but a file's; *ret_entry is set */
	MAPS_SKIPPED,	/* neither, or no user memory ([vsyscall]) */
	MAPS_MALFORMED,
};

/* One line without its newline. ret_entry->path points into `path`. */
enum maps_outcome maps_parse_line(struct str line, char path[static MAPPING_PATH_MAX],
				  struct maps_entry *ret_entry);

/* Calls `fn` for the executable mappings in order, at most MAPPINGS_MAX (the kernel lists ascending
 * addresses), and for those of files that are not executable. Returns the number of malformed lines.
 */
size_t maps_parse(struct str text, maps_fn fn, void *data);

/* Sets kind, path and deleted from a name as the kernel gives it (maps and perf records alike) and
 * entry->inode. False: no user memory. */
bool maps_classify(struct str name, struct maps_entry *entry);

#endif

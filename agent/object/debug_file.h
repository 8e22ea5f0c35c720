/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The separate debug file of an object: by build id (/usr/lib/debug/.build-id/xx/yyyy.debug), else by .gnu_debuglink, whose CRC is
 * checked, beside the object, in its .debug directory and below /usr/lib/debug.
 *
 * Looked for below a root directory (that of the process), never outside of it. Whoever may write there may have put anything at these
 * paths: they are opened as foreign_file.h does it, and believed where whoever could write them could write the object (debug_owner.h).
 */
#ifndef XAGENT_AGENT_OBJECT_DEBUG_FILE_H
#define XAGENT_AGENT_OBJECT_DEBUG_FILE_H

#include "agent/object/elf.h"

/* Two roots are looked into, and three places of each when it goes by name. */
#define DEBUG_FILE_MAX_CANDIDATES 6

/* Files that may be the one, the most trusted first. Those without a build id to compare have to be read whole. */
struct debug_file_candidates {
	uint32_t n;
	uint32_t crc; /* of those that are not sure */
	struct debug_file_candidate {
		int fd; /* owned */
		bool is_sure;
	} items[DEBUG_FILE_MAX_CANDIDATES];
};

enum debug_file_outcome {
	DEBUG_FILE_NONE = 1, /* there is none, or none that fits */
	DEBUG_FILE_OUTCOME_MAX
};

/* `path` is the object's, as seen from `root_fd`. The file's descriptor is the caller's. 0, DEBUG_FILE_NONE, -errno. */
int debug_file_open(struct elf *elf, int root_fd, const char *path, int *ret_fd);

/* The same in two steps, for who must not be held up. First: appends what there is below one root, each file once. A sure one is the last
 * that is looked for. 0 (also when there is none), -errno. */
int debug_file_collect(struct elf *elf, int root_fd, const char *path,
		       struct debug_file_candidates *candidates);
/* Second, which reads up to 256 MiB of each that is not sure, 150 ms: takes the first that fits. 0, DEBUG_FILE_NONE, -errno. */
int debug_file_choose(struct debug_file_candidates *candidates, int *ret_fd);
void debug_file_candidates_fini(struct debug_file_candidates *candidates);
#define _cleanup_candidates_ _cleanup_(debug_file_candidates_fini)

#endif

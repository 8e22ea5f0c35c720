/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The separate debug file of an object: by build id (/usr/lib/debug/.build-id/xx/yyyy.debug), else by .gnu_debuglink, whose CRC is
 * checked, beside the object, in its .debug directory and below /usr/lib/debug.
 *
 * Looked for below a root directory (that of the process), never outside of it: paths are resolved with openat2(RESOLVE_IN_ROOT). Only
 * regular files are opened.
 */
#ifndef XAGENT_AGENT_OBJECT_DEBUG_FILE_H
#define XAGENT_AGENT_OBJECT_DEBUG_FILE_H

#include "agent/object/elf.h"

enum debug_file_outcome {
	DEBUG_FILE_NONE = 1, /* there is none, or none that fits */
	DEBUG_FILE_OUTCOME_MAX
};

/* `path` is the object's, as seen from `root_fd`. The file's descriptor is the caller's. 0, DEBUG_FILE_NONE, -errno. */
int debug_file_open(struct elf *elf, int root_fd, const char *path, int *ret_fd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of somebody else's with other contents and all else as it was: mode, owner, the links that lead to it. A reader sees the
 * contents from before or from after; only where nothing can be renamed onto the file (it is a mount point, its folder may not be
 * written to) it is written to in place.
 */
#ifndef XAGENT_AGENT_CLI_CONFIG_REWRITE_H
#define XAGENT_AGENT_CLI_CONFIG_REWRITE_H

#include "agent/util/buf.h"

/* `before` is what the file holds, and what it holds again if writing in place fails halfway. 0 or -errno: -EACCES for a file that is
 * read-only, -EINVAL for what is no regular file. */
int rewrite_file(const char *path, const struct buf *before, const struct buf *after);

#endif

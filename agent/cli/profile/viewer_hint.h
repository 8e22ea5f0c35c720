/* SPDX-License-Identifier: Apache-2.0 */
/* How a person opens a file that was written: a command to copy, or an address to open. Pure text. */
#ifndef XAGENT_AGENT_CLI_PROFILE_VIEWER_HINT_H
#define XAGENT_AGENT_CLI_PROFILE_VIEWER_HINT_H

#include "agent/cli/profile/profile_format.h"
#include "agent/util/buf.h"

struct viewer_hint {
	enum profile_format format;
	const char *file; /* as it was asked for */
	const char *path; /* the same from the root on */
	unsigned int n_parts;
};

/* "look at it: go tool pprof -http=: cpu.pb.gz"; nothing where there is nothing to look at, as with /dev/null. */
void viewer_hint_text(const struct viewer_hint *l, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks of two profiles as those of one. Pure. */
#ifndef XAGENT_AGENT_ENCODE_FOLDED_MERGE_H
#define XAGENT_AGENT_ENCODE_FOLDED_MERGE_H

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Each as encode_folded() makes it: sorted, and no stack twice. So is what is appended to `out`. 0, -ENOBUFS or -ENOMEM. */
int folded_merge(struct str a, struct str b, struct buf *out);

#endif

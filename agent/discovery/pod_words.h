/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and annotations of a pod, its node and its namespace. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_POD_WORDS_H
#define XAGENT_AGENT_DISCOVERY_POD_WORDS_H

#include <jansson.h>

#include "agent/discovery/pod_targets.h"
#include "agent/target/label_builder.h"

/* Room that is left in the builder for what else a target has to say. */
#define POD_WORDS_ROOM_LEFT 32
/* Of one label or annotation, and of all of them: an object has up to 256 KiB of annotations, and each of its targets repeats them. */
#define POD_WORDS_MAX_VALUE_BYTES ((size_t)16 << 10)
#define POD_WORDS_MAX_BYTES ((size_t)64 << 10)

/* Those of the pod first, so that the others are left out where there are too many; of a value that is too long only that it is there. */
void pod_words_add(struct label_builder *b, const json_t *metadata,
		   const struct pod_targets_options *o);

#endif

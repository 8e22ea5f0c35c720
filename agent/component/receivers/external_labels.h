/* SPDX-License-Identifier: Apache-2.0 */
/* The external_labels of pyroscope.write, fit to be sent: what is changed about them is said in the log. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_EXTERNAL_LABELS_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_EXTERNAL_LABELS_H

#include <stddef.h>

#include "agent/push/labels.h"
#include "river-config/river.h"

/* `ret_labels` has room for all of `given`; the texts are of `given`, or of the arena. Labels that are internal ("__name__") are nobody's
 * but the user's and stay. 0 or -ENOMEM. */
int external_labels_clean(const struct river_string_map *given, const char *component_id,
			  struct river_arena *arena, struct push_label *ret_labels, size_t *ret_n);

#endif

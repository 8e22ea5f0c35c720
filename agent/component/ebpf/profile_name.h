/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile is called: its label __name__, the first part of its type. Series have none of their own, profiles get it when they are delivered.
 *
 * - CPU profiles are called as bpf/events.h says, or as the target says: a __name__ of it is kept.
 * - Others are called as the configuration calls their source, else as bpf/events.h says; a target's __name__ is not for them, or two types of
 *   profile of one target had the same name. So series that differ by that alone are one.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_PROFILE_NAME_H
#define XAGENT_AGENT_COMPONENT_EBPF_PROFILE_NAME_H

#include "agent/profile/interval.h"

/* The labels of a series and its profiles' name; `given`: the configuration's, NULL: it has none. 0 or -ENOMEM. */
int profile_name_add(struct labels *series, enum event event, const char *given,
		     struct labels **ret_labels);

/* What a series of another event than CPU time has of these labels: all but a target's name. A reference. 0 or -ENOMEM. */
int profile_name_without(struct labels *series, struct labels **ret_labels);
/* Series of other events than CPU time lose the names of targets. After the last interval_add(). How many samples were dropped, for want of memory. */
uint64_t profile_name_settle(struct interval *i);

#endif

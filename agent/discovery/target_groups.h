/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets as Prometheus' discovery by files and by HTTP lists them:
 *
 *	[{"targets": ["10.1.2.3:8080", "10.1.2.4:8080"], "labels": {"team": "shop"}}]
 *
 * One target for each entry of `targets`, with its text as __address__ and the labels of its group. As there: a group may lack either
 * key, or have it null; another key, another type, a group that is null or a label that is no label's name make the whole list wrong; a
 * list that is null has no targets. Pure.
 */
#ifndef XAGENT_AGENT_DISCOVERY_TARGET_GROUPS_H
#define XAGENT_AGENT_DISCOVERY_TARGET_GROUPS_H

#include "agent/target/target_list.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

/* In YAML every scalar is a text, so `team: 7` is as good as `team: "7"`; in JSON a number is no text. */
enum target_groups_format { TARGET_GROUPS_JSON, TARGET_GROUPS_YAML };

/* `origin` is a label of each target: where it was found. 0; -EINVAL or -E2BIG with line and column, or group and key, of what is wrong in
 * `why`; -ENOMEM. After a failure the list may have some of them. */
int target_groups_read(struct str text, enum target_groups_format format,
		       const struct label *origin, struct buf *why, struct target_list *list);

#endif

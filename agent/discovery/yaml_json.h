/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML as the tree that JSON would be, for lists of targets.
 *
 * Every scalar is a string as it is written ("1.10" and "true" too), but for what is nothing in YAML (~, null, an empty value): that
 * is null. Keys are strings; one that a mapping has twice is an error. Anchors, aliases and merge keys ("<<") are followed. Of several
 * documents the first counts; no document at all is null. Pure.
 */
#ifndef XAGENT_AGENT_DISCOVERY_YAML_JSON_H
#define XAGENT_AGENT_DISCOVERY_YAML_JSON_H

#include <jansson.h>

#include "agent/util/buf.h"

/* Nested lists and mappings; a kubeconfig has five. */
#define YAML_JSON_MAX_DEPTH 64
/* Scalars, lists and mappings, those of an alias once more for each use: ten for each target of the largest list. */
#define YAML_JSON_MAX_NODES 1000000

/* 0; -EINVAL or -E2BIG with "line 3, column 5: what is wrong" in `why`; -ENOMEM. */
int yaml_to_json(const char *text, size_t n, struct buf *why, json_t **ret_json);

#endif

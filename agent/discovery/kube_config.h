/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kubeconfig: which server, who we are there and which namespace is ours, by its current-context. Reads no other file: those it names
 * are read when a request needs them. Pure.
 */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_CONFIG_H
#define XAGENT_AGENT_DISCOVERY_KUBE_CONFIG_H

#include "agent/discovery/kube_access.h"

/* Fills all of `access`, whose arena is there already. `path` is how messages call the file, and where relative paths begin. 0, or -errno
 * with one line in `why`. */
int kube_config_read(const char *text, size_t n, const char *path, struct buf *why,
		     struct kube_access *access);

#endif

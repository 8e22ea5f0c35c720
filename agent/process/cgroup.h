/* SPDX-License-Identifier: Apache-2.0 */
/* What a process's /proc/PID/cgroup says: container id, runtime, systemd unit, pod. A pure function
 * over its bytes. */
#ifndef XAGENT_AGENT_PROCESS_CGROUP_H
#define XAGENT_AGENT_PROCESS_CGROUP_H

#include <stdbool.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* 64 hex digits, or ECS's 32 hex digits, '-', up to 20 digits. */
#define CGROUP_CONTAINER_ID_MAX 65
/* NAME_MAX of a cgroup directory. */
#define CGROUP_NAME_MAX 256

struct cgroup_facts {
	char container_id[CGROUP_CONTAINER_ID_MAX]; /* "" when none */
	/* "docker", "containerd", "cri-o", "podman", "ecs", "" when the path does not tell. */
	char runtime[16];
	/* systemd unit, "nginx.service", unescaped; "" when none. Scopes of containers are no units,
	 * and of the units above a container only Podman's are kept (Quadlet): the others are the
	 * runtime's daemon. */
	char unit[CGROUP_NAME_MAX];
	/* Unit of a user manager; `unit` is its "user@UID.service" then. */
	char user_unit[CGROUP_NAME_MAX];
	char slice[CGROUP_NAME_MAX]; /* the innermost one above the unit or container, unescaped */
	char pod_uid[64];	     /* Kubernetes pod, dashes restored */
	bool private_namespace;	     /* every line says "/": hidden by a cgroup namespace */
};

/* Never fails: facts that are not there are empty. Malformed lines are skipped. */
void cgroup_parse(struct str text, struct cgroup_facts *ret_facts);

/* Appends the path of the one line (v2), or all lines' paths joined by '|' (v1 and hybrid). `out`
 * tells when it was too small. */
void cgroup_path(struct str text, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a process's /proc/PID/cgroup says: container id, runtime, machine, systemd unit, pod. A pure
 * function over its bytes. */
#ifndef XAGENT_AGENT_PROCESS_CGROUP_H
#define XAGENT_AGENT_PROCESS_CGROUP_H

#include <stdbool.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* 64 hex digits, or ECS's 32 hex digits, '-', up to 20 digits. */
#define CGROUP_CONTAINER_ID_MAX 65
/* NAME_MAX of a cgroup directory. */
#define CGROUP_NAME_MAX 256

/* A machine's name is a host's, at most 64 bytes; LXD puts a project's before it. */
#define CGROUP_MACHINE_MAX 128
/* A Nomad task's name; longer ones are cut. */
#define CGROUP_TASK_MAX 64

struct cgroup_facts {
	char container_id[CGROUP_CONTAINER_ID_MAX]; /* "" when none */
	/* Of the container: "docker", "containerd", "cri-o", "podman", "ecs"; where there is none
	 * "buildkit" (a step of a build), of the machine "lxc", "nspawn", "qemu", or "nomad". "" when
	 * the path does not tell. */
	char runtime[16];
	/* The innermost LXC, LXD or Incus container ("PROJECT_NAME" outside of LXD's default project),
	 * systemd-nspawn's or another machine of machined's, or libvirt's guest, by name. A container
	 * inside of it has both. */
	char machine[CGROUP_MACHINE_MAX];
	char alloc_id[40];	    /* Nomad's allocation, a UUID */
	char task[CGROUP_TASK_MAX]; /* of it; "" when the path does not tell */
	/* systemd unit, "nginx.service", unescaped; "" when none. Scopes of containers, machines and
	 * tasks are no units, and of the units above a container only Podman's are kept (Quadlet): the
	 * others are the runtime's daemon. In a machine its own units. */
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

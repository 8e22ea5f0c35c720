/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about containers from files that container runtimes write, for hosts where no API is asked.
 *
 * Files are read when a container is first asked for, and looked at again from time to time: a container may be renamed, or be there a
 * moment before its files are.
 *
 *	Docker		<root>/var/lib/docker/containers/ID/config.v2.json, or below the data-root of /etc/docker/daemon.json
 *	containerd	<root>/run/containerd/io.containerd.runtime.v2.task/NAMESPACE/ID/config.json (Kubernetes, nerdctl)
 *	Podman, CRI-O	…/overlay-containers/ID/userdata/config.json below their storage, and containers.json
 *	Docker, Podman	the directory out of which a process of the container has files mounted
 *	Kubernetes	<root>/var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, <root>/var/log/pods/NAMESPACE_POD_UID
 *
 * Of a container in a container (kind, Docker in LXC) the same below the outer one's root.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_TARGET_CONTAINER_METADATA_H
#define XAGENT_AGENT_TARGET_CONTAINER_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/cgroup.h"
#include "agent/util/cleanup.h"

/* Containers remembered; the least recently asked for goes first. */
#define CONTAINER_METADATA_MAX 4096

/* Strings are never NULL, "" where nothing is written down, valid UTF-8. */
struct container_facts {
	const char *name;  /* as the runtime's tools show it; Docker's without the slash in front */
	const char *image; /* "nginx:1.27" */
	const char *namespace, *pod, *pod_container;   /* Kubernetes */
	const char *pod_service_name;		       /* annotation pyroscope.io/service_name */
	const char *compose_project, *compose_service; /* Docker's and Podman's Compose */
	/* Docker's Swarm: a task's name has a new id each time. */
	const char *swarm_service;
};

struct container_metadata;

/* `root`: "" for this host (from a container of it: the root of pid 1, when that is another one), or where a host's root is mounted. 0 or
 * -ENOMEM. */
int container_metadata_new(const char *root, struct container_metadata **ret_metadata);
void container_metadata_free(struct container_metadata *b);
DEFINE_CLEANUP(struct container_metadata *, container_metadata_free);

/* What is known of the container, or pod, that a control group is of. `pid` is the process that is asked for: its mounts tell where the
 * files are when a runtime keeps them elsewhere (dockerd --data-root); 0: none. Never NULL. Borrowed until the next call. */
const struct container_facts *container_metadata_find(struct container_metadata *b,
						      const struct cgroup_facts *cgroup,
						      uint32_t pid, uint64_t now_ns);

/* Looks again at what was asked for and has changed, or was not there. True when one of them tells something else now. Cheap enough to
 * be called every interval: a stat(2) a container. */
bool container_metadata_refresh(struct container_metadata *b, uint64_t now_ns);

/* When a refresh is of use before the next interval: a container was asked for moments before its files are there (which is looked at
 * 0.2 s, 1 s and 5 s after it was asked for first). UINT64_MAX: not before then. */
uint64_t container_metadata_due_ns(const struct container_metadata *b);

#endif

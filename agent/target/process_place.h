/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a process runs, as far as it is the same for all processes of one service: what the runtime has written down about its
 * container, else what its environment says. Pure.
 */
#ifndef XAGENT_AGENT_TARGET_PROCESS_PLACE_H
#define XAGENT_AGENT_TARGET_PROCESS_PLACE_H

#include "agent/process/process.h"
#include "agent/target/container_metadata.h"
#include "agent/target/label.h"

/* Borrowed from both; never NULL, "" where it is not known. */
struct process_place {
	const char *namespace, *pod, *container; /* Kubernetes */
	const char *pod_service_name;
	const char *compose_project, *compose_service;
	const char *swarm_service;
	const char *nomad_job, *nomad_task;
	const char *name;    /* of the container */
	const char *machine; /* an LXC container, a virtual machine … */
};

/* `container` may be NULL. */
void process_place_find(const struct process_identity *id, const struct container_facts *container,
			struct process_place *ret_place);

#define PROCESS_PLACE_LABELS_MAX 4

/* The labels of a series that nobody has configured, those with a value: none that would make a series for each pod, container or
 * process. Returns how many. */
size_t process_place_labels(const struct process_place *place,
			    struct label ret_labels[PROCESS_PLACE_LABELS_MAX]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_name: what a series is called when nobody said so.
 *
 * First by the labels that discovery attached, in the order and to the letter of Grafana's agent,
 * since people have dashboards on the results; then by the process itself. There is always an
 * answer, and it is never "unknown" or "unspecified": a graph of everything that nobody knows helps
 * nobody. A thread's name is never asked: one JVM would be twenty services.
 *
 * Pure: no input, no output, any thread.
 */
#ifndef XAGENT_AGENT_TARGET_SERVICE_NAME_H
#define XAGENT_AGENT_TARGET_SERVICE_NAME_H

#include <stdbool.h>

#include "agent/process/process.h"
#include "agent/target/container_metadata.h"
#include "agent/target/label.h"

/* X(source, word), in the order in which they are asked. The first six look at labels, the others
 * at the process. */
#define SERVICE_NAME_SOURCES(X)                                                             \
	X(LABEL, "label")			/* service_name, as given */                \
	X(POD_ANNOTATION, "pod annotation")	/* pyroscope.io/service_name */             \
	X(POD_CONTAINER, "pod container")	/* ebpf/<namespace>/<container> */          \
	X(DOCKER_NAME, "docker container name") /* with Docker's leading slash */           \
	X(SWARM_CONTAINER_LABEL, "swarm container label")                                   \
	X(SWARM_SERVICE, "swarm service name")                                              \
	X(KERNEL, "kernel thread")		  /* "kernel" */                            \
	X(POD_FILES_ANNOTATION, "pod annotation") /* as the runtime wrote it down */        \
	X(POD, "pod")				  /* <namespace>/<container> */             \
	X(WORKLOAD, "pod's workload")		  /* <namespace>/<pod, without its hash> */ \
	X(COMPOSE, "Compose service")		  /* <project>/<service> */                 \
	X(SWARM, "Swarm service")		  /* as the runtime wrote it down */        \
	X(NOMAD, "Nomad task")			  /* <job>/<task>, or the task */           \
	X(CONTAINER_NAME, "container name")	  /* without Docker's slash */              \
	X(MACHINE, "machine")			  /* LXC, nspawn, virtual machines */       \
	X(OTEL_SERVICE, "OTEL_SERVICE_NAME")                                                \
	X(OTEL_ATTRIBUTE, "OTEL_RESOURCE_ATTRIBUTES")                                       \
	X(USER_UNIT, "systemd user unit") /* a user manager's service */                    \
	X(UNIT, "systemd unit")		  /* nginx.service is "nginx" */                    \
	X(SCRIPT, "script")		  /* what an interpreter runs */                    \
	X(EXECUTABLE, "executable")	  /* its file name */                               \
	X(CONTAINER_ID, "container id")	  /* its first twelve characters */                 \
	X(COMM, "process name")		  /* of the leader, where no file is known */       \
	X(NOTHING, "nothing known")	  /* "process" */

enum service_name_source {
#define SERVICE_NAME_SOURCE_ENUM(source, word) SERVICE_NAME_##source,
	SERVICE_NAME_SOURCES(SERVICE_NAME_SOURCE_ENUM)
#undef SERVICE_NAME_SOURCE_ENUM
		SERVICE_NAME_SOURCE_MAX
};

struct service_name {
	char text[LABEL_VALUE_MAX + 1]; /* never empty, valid UTF-8, cut to fit */
	enum service_name_source source;
};

/* False, and *ret_name as it was, when the labels do not tell. */
bool service_name_from_labels(const struct labels *l, struct service_name *ret_name);

struct service_name_facts {
	const struct process_identity *identity;
	const struct container_facts *container; /* NULL: nothing is written down */
	bool scripts;				 /* an interpreter is named after what it runs */
};

void service_name_from_process(const struct service_name_facts *facts,
			       struct service_name *ret_name);

/* For people: "systemd unit". */
const char *service_name_source_word(enum service_name_source source);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process's environment says about who it is: names that people gave it for OpenTelemetry, and where Kubernetes and Nomad put it.
 *
 * Nothing else is kept: environments hold passwords. A pure function over the bytes of /proc/PID/environ.
 */
#ifndef XAGENT_AGENT_PROCESS_ENVIRON_H
#define XAGENT_AGENT_PROCESS_ENVIRON_H

#include "agent/util/str.h"

/* Names of Kubernetes objects have up to 253 characters, nothing here has a reason to be longer; what is longer is cut. */
#define ENVIRON_TEXT_MAX 256

/* X(member): each a text, "" when the environment does not tell. */
#define ENVIRON_FACTS(X)                                                                          \
	X(otel_service)		  /* OTEL_SERVICE_NAME */                                         \
	X(otel_attribute_service) /* service.name of OTEL_RESOURCE_ATTRIBUTES */                  \
	X(otel_service_namespace) /* service.namespace */                                         \
	X(otel_deployment)	  /* deployment.environment.name, deployment.environment */       \
	X(kubernetes_namespace)	  /* k8s.namespace.name, or as set by the downward API: */        \
	X(kubernetes_pod)	  /* POD_NAMESPACE, POD_NAME, CONTAINER_NAME. These are words */  \
	X(kubernetes_container)	  /* of anybody, and count beside KUBERNETES_SERVICE_HOST only */ \
	X(nomad_namespace)	  /* NOMAD_NAMESPACE */                                           \
	X(nomad_job)		  /* NOMAD_JOB_NAME */                                            \
	X(nomad_group)		  /* NOMAD_GROUP_NAME */                                          \
	X(nomad_task)		  /* NOMAD_TASK_NAME */

/* As a process keeps them: strings are never NULL. */
struct environ_facts {
#define ENVIRON_FACT_MEMBER(member) char *member;
	ENVIRON_FACTS(ENVIRON_FACT_MEMBER)
#undef ENVIRON_FACT_MEMBER
};

/* Valid UTF-8. */
struct environ_texts {
#define ENVIRON_TEXT_MEMBER(member) char member[ENVIRON_TEXT_MAX];
	ENVIRON_FACTS(ENVIRON_TEXT_MEMBER)
#undef ENVIRON_TEXT_MEMBER
};

/*
 * Each entry ends with a NUL; what stands behind the last one was cut and is not looked at.
 *
 * Never fails: what is malformed (a program may have written its title there) is skipped. Of a variable that comes twice the first
 * counts, as for getenv(3); of an attribute the last, as in OpenTelemetry's libraries. An empty one is none.
 */
void environ_parse(struct str environment, struct environ_texts *ret_texts);

#endif

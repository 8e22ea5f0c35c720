/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process runs. */
#include "agent/target/process_place.h"

#include "agent/util/macro.h"

/* The first that tells something. */
static const char *first_of(const char *a, const char *b)
{
	if (a && a[0])
		return a;
	return b ? b : "";
}

void process_place_find(const struct process_identity *id, const struct container_facts *container,
			struct process_place *ret_place)
{
	static const struct container_facts nothing;
	const struct container_facts *c = container ? container : &nothing;

	*ret_place = (struct process_place){
		.namespace = first_of(c->namespace, id->env.kubernetes_namespace),
		.pod = first_of(c->pod, id->env.kubernetes_pod),
		.container = first_of(c->pod_container, id->env.kubernetes_container),
		.pod_service_name = first_of(c->pod_service_name, ""),
		.compose_project = first_of(c->compose_project, ""),
		.compose_service = first_of(c->compose_service, ""),
		.swarm_service = first_of(c->swarm_service, ""),
		.nomad_job = first_of(id->env.nomad_job, ""),
		.nomad_task = first_of(id->env.nomad_task, id->cgroup.task),
		.name = first_of(c->name, ""),
		.machine = id->cgroup.machine,
	};
}

size_t process_place_labels(const struct process_place *place,
			    struct label ret_labels[PROCESS_PLACE_LABELS_MAX])
{
	const struct label all[PROCESS_PLACE_LABELS_MAX] = {
		{ "namespace", place->namespace },
		{ "container", place->container },
		{ "compose_project", place->compose_project },
		{ "compose_service", place->compose_service },
	};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].value[0])
			ret_labels[n++] = all[i];
	return n;
}

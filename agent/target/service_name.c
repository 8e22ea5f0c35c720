/* SPDX-License-Identifier: Apache-2.0 */
/* service_name: what a series is called when nobody said so. */
#include "agent/target/service_name.h"

#include <stdio.h>
#include <string.h>

#include "agent/target/pod_name.h"
#include "agent/target/process_place.h"
#include "agent/target/unit_name.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Docker's short form of an id. */
#define CONTAINER_ID_SHORT 12

static bool name_set(struct service_name *name, enum service_name_source source, struct str text)
{
	if (text.n == 0)
		return false;
	str_copy_utf8(name->text, sizeof(name->text), text);
	name->source = source;
	return true;
}

static bool name_from_label(const struct labels *l, const char *label,
			    enum service_name_source source, struct service_name *name)
{
	return name_set(name, source, str_from(labels_get(l, label)));
}

static bool name_from_pod_container(const struct labels *l, struct service_name *name)
{
	const char *namespace = labels_get(l, "__meta_kubernetes_namespace");
	const char *container = labels_get(l, "__meta_kubernetes_pod_container_name");
	char text[sizeof(name->text) + sizeof("ebpf/")];

	if (!namespace || !container)
		return false;
	/* What does not fit is cut by name_set() again, there on the border of a code point. */
	(void)snprintf(text, sizeof(text), "ebpf/%s/%s", namespace, container);
	return name_set(name, SERVICE_NAME_POD_CONTAINER, str_from(text));
}

bool service_name_from_labels(const struct labels *l, struct service_name *ret_name)
{
	return name_from_label(l, "service_name", SERVICE_NAME_LABEL, ret_name) ||
	       name_from_label(l, "__meta_kubernetes_pod_annotation_pyroscope_io_service_name",
			       SERVICE_NAME_POD_ANNOTATION, ret_name) ||
	       name_from_pod_container(l, ret_name) ||
	       name_from_label(l, "__meta_docker_container_name", SERVICE_NAME_DOCKER_NAME,
			       ret_name) ||
	       name_from_label(l, "__meta_dockerswarm_container_label_service_name",
			       SERVICE_NAME_SWARM_CONTAINER_LABEL, ret_name) ||
	       name_from_label(l, "__meta_dockerswarm_service_name", SERVICE_NAME_SWARM_SERVICE,
			       ret_name);
}

/* The file's name. "/memfd:name" has no directory: the name may hold slashes
 * ("runc_cloned:/proc/self/exe"). */
static struct str executable_name(struct str path)
{
	struct str memfd = STR_LIT("/memfd:"), deleted = STR_LIT(" (deleted)"), name;

	if (str_ends_with(path, deleted))
		path.n -= deleted.n;
	if (!str_starts_with(path, memfd))
		return str_basename(path);
	path.p += memfd.n;
	path.n -= memfd.n;
	(void)str_split(&path, ':', &name); /* true: path.p is not NULL */
	return str_basename(name);
}

/* What libraries and agents call those of whom nothing is known. */
static bool says_nothing(struct str text)
{
	return text.n == 0 || str_eq(text, STR_LIT("unknown")) ||
	       str_eq(text, STR_LIT("unspecified")) ||
	       str_starts_with(text, STR_LIT("unknown_service"));
}

static bool name_by(struct service_name *name, enum service_name_source source, const char *text)
{
	struct str s = str_from(text);

	return !says_nothing(s) && name_set(name, source, s);
}

static bool name_by_piece(struct service_name *name, enum service_name_source source,
			  struct str text)
{
	return !says_nothing(text) && name_set(name, source, text);
}

/* "group/member", when both are known. */
static bool name_by_pair(struct service_name *name, enum service_name_source source,
			 const char *group, struct str member)
{
	char text[sizeof(name->text) + sizeof("\xf0\x9f\x98\x80")];

	if (!group[0] || member.n == 0)
		return false;
	/* What does not fit is cut by name_set() again, there on the border of a code point. */
	(void)snprintf(text, sizeof(text), "%s/%.*s", group, (int)member.n, member.p);
	return name_set(name, source, str_from(text));
}

static bool name_by_place(struct service_name *name, const struct process_place *place)
{
	return name_by(name, SERVICE_NAME_POD_FILES_ANNOTATION, place->pod_service_name) ||
	       name_by_pair(name, SERVICE_NAME_POD, place->namespace, str_from(place->container)) ||
	       name_by_pair(name, SERVICE_NAME_WORKLOAD, place->namespace,
			    pod_workload_name(place->pod)) ||
	       name_by_pair(name, SERVICE_NAME_COMPOSE, place->compose_project,
			    str_from(place->compose_service)) ||
	       name_by(name, SERVICE_NAME_SWARM, place->swarm_service) ||
	       name_by_pair(name, SERVICE_NAME_NOMAD, place->nomad_job,
			    str_from(place->nomad_task)) ||
	       name_by(name, SERVICE_NAME_NOMAD, place->nomad_task) ||
	       name_by_piece(name, SERVICE_NAME_CONTAINER_NAME,
			     container_service_name(place->name)) ||
	       name_by(name, SERVICE_NAME_MACHINE, place->machine);
}

static bool name_by_image(struct service_name *name, const struct process_identity *id,
			  bool scripts)
{
	return (scripts && name_by(name, SERVICE_NAME_SCRIPT, id->script)) ||
	       name_by_piece(name, SERVICE_NAME_EXECUTABLE, executable_name(str_from(id->exe)));
}

static bool name_by_identity(struct service_name *name, const struct process_identity *id,
			     bool scripts)
{
	const struct cgroup_facts *cgroup = &id->cgroup;
	struct str container = { cgroup->container_id,
				 strnlen(cgroup->container_id, CONTAINER_ID_SHORT) };

	return name_by(name, SERVICE_NAME_OTEL_SERVICE, id->env.otel_service) ||
	       name_by(name, SERVICE_NAME_OTEL_ATTRIBUTE, id->env.otel_attribute_service) ||
	       name_by_piece(name, SERVICE_NAME_USER_UNIT, unit_service_name(cgroup->user_unit)) ||
	       name_by_piece(name, SERVICE_NAME_UNIT, unit_service_name(cgroup->unit)) ||
	       name_by_image(name, id, scripts) ||
	       name_by_piece(name, SERVICE_NAME_CONTAINER_ID, container) ||
	       name_by(name, SERVICE_NAME_COMM, id->comm);
}

void service_name_from_process(const struct service_name_facts *facts,
			       struct service_name *ret_name)
{
	const struct process_identity *id = facts->identity;
	struct process_place place;

	process_place_find(id, facts->container, &place);
	if (id->kernel_thread)
		(void)name_set(ret_name, SERVICE_NAME_KERNEL, STR_LIT("kernel"));
	else if (!name_by_place(ret_name, &place) &&
		 !name_by_identity(ret_name, id, facts->scripts))
		(void)name_set(ret_name, SERVICE_NAME_NOTHING, STR_LIT("process"));
}

const char *service_name_source_word(enum service_name_source source)
{
	static const char *const words[] = {
#define SERVICE_NAME_SOURCE_WORD(name, word) word,
		SERVICE_NAME_SOURCES(SERVICE_NAME_SOURCE_WORD)
#undef SERVICE_NAME_SOURCE_WORD
	};

	return source < ARRAY_SIZE(words) ? words[source] : "";
}

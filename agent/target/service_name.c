/* SPDX-License-Identifier: Apache-2.0 */
/* service_name: what a series is called when nobody said so. */
#include "agent/target/service_name.h"

#include <stdio.h>
#include <string.h>

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

void service_name_from_process(const struct process_identity *id, struct service_name *ret_name)
{
	const struct cgroup_facts *cgroup = &id->cgroup;
	struct str container = { cgroup->container_id,
				 strnlen(cgroup->container_id, CONTAINER_ID_SHORT) };

	if (id->kernel_thread)
		(void)name_set(ret_name, SERVICE_NAME_KERNEL, STR_LIT("kernel"));
	else if (!name_set(ret_name, SERVICE_NAME_CONTAINER_ID, container) &&
		 !name_set(ret_name, SERVICE_NAME_USER_UNIT,
			   unit_service_name(cgroup->user_unit)) &&
		 !name_set(ret_name, SERVICE_NAME_UNIT, unit_service_name(cgroup->unit)) &&
		 !name_set(ret_name, SERVICE_NAME_EXECUTABLE, executable_name(str_from(id->exe))) &&
		 !name_set(ret_name, SERVICE_NAME_COMM, str_from(id->comm)))
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

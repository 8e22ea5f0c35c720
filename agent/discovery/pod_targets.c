/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod as targets.
 *
 * Names and values as Prometheus' discovery of pods has them. The labels of the pod are built once; those of a container and of its port
 * are laid over them and taken off again.
 */
#include "agent/discovery/pod_targets.h"

#include <stdio.h>
#include <string.h>

#include "agent/discovery/pod_words.h"
#include "agent/target/label_builder.h"
#include "agent/util/macro.h"

#define POD "__meta_kubernetes_pod_"

/* Kubernetes has no such limits; they keep a hostile pod from costing more than a node full of usual ones. */
#define CONTAINERS_MAX 256
#define TARGETS_MAX_PER_POD 1000
/* The text form of an IPv6 address with a scope (INET6_ADDRSTRLEN, IFNAMSIZ); longer is none. */
#define IP_MAX_BYTES 63

struct pod {
	const json_t *metadata, *spec, *status;
	const char *ip;
	struct label_builder b;
	struct target_list *list;
	size_t n_targets;
};

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void add_text(struct pod *p, const char *name, const json_t *object, const char *key)
{
	label_builder_add(&p->b, name, text_of(object, key));
}

/* The status of the condition Ready, in lower case; its words are True, False and Unknown. */
static const char *ready_text(const json_t *status)
{
	const json_t *conditions = json_object_get(status, "conditions");
	const json_t *condition;
	size_t i;

	json_array_foreach(conditions, i, condition)
	{
		const char *type = text_of(condition, "type");
		const char *is = text_of(condition, "status");

		if (!type || strcmp(type, "Ready") != 0)
			continue;
		if (is && strcmp(is, "True") == 0)
			return "true";
		return is && strcmp(is, "False") == 0 ? "false" : "unknown";
	}
	return "unknown";
}

/* The owner that manages the pod: there is one at most. */
static const json_t *controller_of(const json_t *metadata)
{
	const json_t *owners = json_object_get(metadata, "ownerReferences");
	const json_t *owner;
	size_t i;

	json_array_foreach(owners, i, owner)
	{
		if (json_is_true(json_object_get(owner, "controller")))
			return owner;
	}
	return NULL;
}

static void add_pod(struct pod *p)
{
	const json_t *controller = controller_of(p->metadata);

	add_text(p, "__meta_kubernetes_namespace", p->metadata, "namespace");
	add_text(p, POD "name", p->metadata, "name");
	add_text(p, POD "uid", p->metadata, "uid");
	add_text(p, POD "ip", p->status, "podIP");
	add_text(p, POD "host_ip", p->status, "hostIP");
	add_text(p, POD "phase", p->status, "phase");
	add_text(p, POD "node_name", p->spec, "nodeName");
	add_text(p, POD "controller_kind", controller, "kind");
	add_text(p, POD "controller_name", controller, "name");
	label_builder_add(&p->b, POD "ready", ready_text(p->status));
}

static int take_target(struct pod *p)
{
	struct labels *labels = NULL;
	int r = label_builder_make(&p->b, &labels);

	if (r < 0)
		return r;
	p->n_targets++;
	return target_list_add(p->list, labels);
}

/* False: a port without a number that a port may have. */
static bool port_number(const json_t *port, char text[6])
{
	const json_t *value = json_object_get(port, "containerPort");
	json_int_t number = json_integer_value(value);

	if (number <= 0 || number > UINT16_MAX)
		return false;
	(void)snprintf(text, 6, "%u", (unsigned int)number);
	return true;
}

static int add_port(struct pod *p, const json_t *port, const char *number)
{
	size_t n = p->b.n;
	bool v6 = strchr(p->ip, ':') != NULL;
	char address[IP_MAX_BYTES + sizeof("[]:65535")];

	(void)snprintf(address, sizeof(address), v6 ? "[%s]:%s" : "%s:%s", p->ip, number);
	label_builder_add(&p->b, "__address__", address);
	label_builder_add(&p->b, POD "container_port_number", number);
	add_text(p, POD "container_port_name", port, "name");
	add_text(p, POD "container_port_protocol", port, "protocol");
	int r = take_target(p);
	label_builder_cut(&p->b, n);
	return r;
}

static int add_ports(struct pod *p, const json_t *ports, size_t *n_added)
{
	const json_t *port;
	char number[6];
	size_t i;
	int r = 0;

	json_array_foreach(ports, i, port)
	{
		if (p->n_targets == TARGETS_MAX_PER_POD)
			break;
		if (!port_number(port, number))
			continue;
		r = add_port(p, port, number);
		if (r < 0)
			break;
		*n_added += 1;
	}
	return r;
}

static int add_portless(struct pod *p)
{
	label_builder_add(&p->b, "__address__", p->ip);
	return take_target(p);
}

/* A container that was never started has no id; one that ended keeps its last. */
static const char *container_id(const json_t *statuses, const char *name)
{
	size_t n = MIN_OF(json_array_size(statuses), (size_t)CONTAINERS_MAX);

	for (size_t i = 0; name && i < n; i++) {
		const json_t *status = json_array_get(statuses, i);
		const char *its = text_of(status, "name");

		if (its && strcmp(its, name) == 0)
			return text_of(status, "containerID");
	}
	return NULL;
}

static int add_container(struct pod *p, const json_t *container, const json_t *statuses, bool init)
{
	const char *name = text_of(container, "name");
	size_t n = p->b.n;
	size_t n_added = 0;

	label_builder_add(&p->b, POD "container_name", name);
	label_builder_add(&p->b, POD "container_id", container_id(statuses, name));
	label_builder_add(&p->b, POD "container_init", init ? "true" : "false");
	add_text(p, POD "container_image", container, "image");
	int r = add_ports(p, json_object_get(container, "ports"), &n_added);
	if (r == 0 && n_added == 0)
		r = add_portless(p);
	label_builder_cut(&p->b, n);
	return r;
}

static int add_containers(struct pod *p, const char *key, const char *statuses_key, bool init)
{
	const json_t *containers = json_object_get(p->spec, key);
	const json_t *statuses = json_object_get(p->status, statuses_key);
	size_t n = MIN_OF(json_array_size(containers), (size_t)CONTAINERS_MAX);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const json_t *container = json_array_get(containers, i);

		if (json_is_object(container) && p->n_targets < TARGETS_MAX_PER_POD)
			r = add_container(p, container, statuses, init);
	}
	return r;
}

static int add_all(struct pod *p)
{
	int r = add_containers(p, "containers", "containerStatuses", false);

	return r < 0 ? r : add_containers(p, "initContainers", "initContainerStatuses", true);
}

int pod_targets_add(const json_t *object, const struct pod_targets_options *o,
		    struct target_list *list)
{
	struct pod p = {
		.metadata = json_object_get(object, "metadata"),
		.spec = json_object_get(object, "spec"),
		.status = json_object_get(object, "status"),
		.list = list,
	};
	const char *name = text_of(p.metadata, "name");

	p.ip = text_of(p.status, "podIP");
	if (!name || !*name || !p.ip || !*p.ip || strlen(p.ip) > IP_MAX_BYTES)
		return 0;
	label_builder_init(&p.b);
	add_pod(&p);
	pod_words_add(&p.b, p.metadata, o);
	int r = add_all(&p);
	label_builder_fini(&p.b);
	return r;
}

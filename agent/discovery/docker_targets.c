/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's containers as targets.
 *
 * The labels of a container are built once; those of a network and of a port are laid over them and taken off again.
 */
#include "agent/discovery/docker_targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/docker_ports.h"
#include "agent/target/label_builder.h"
#include "agent/util/macro.h"

#define DOCKER "__meta_docker_"

/* Docker has no such limits; they keep a hostile container from costing more than a host full of usual ones. */
#define TARGETS_MAX_PER_CONTAINER 1000
#define NETWORKS_MAX 256
/* Of all labels of a container and its networks; what the builder takes (4 MiB) has room for the ports, too. */
#define TEXTS_MAX_BYTES ((size_t)2 << 20)
/* Kept free for what is not a label of somebody's own: the container's three, the network's six, the port's three, the address. */
#define LABELS_ROOM 16
/* An IPv6 address with a scope (INET6_ADDRSTRLEN, IFNAMSIZ), or a host's name (RFC 1035 §3.1), and a port. */
#define ADDRESS_MAX_BYTES 320
/* Containers that share a network in a row; Docker allows no circle, but who knows. */
#define SHARED_MAX 16

struct maker {
	const struct docker_targets_options *o;
	json_t *containers, *networks; /* by id */
	struct label_builder b;
	size_t n_texts; /* bytes of labels so far */
	size_t n_targets;
	struct target_list *list;
	struct docker_counts counts;
};

struct network {
	const char *name;
	const json_t *endpoint;
};

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* NULL when memory is out. */
static json_t *index_by_id(const json_t *array)
{
	json_t *index = json_object();
	bool ok = index;
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		const char *id = text_of(item, "Id");

		if (ok && id)
			ok = json_object_set(index, id, item) == 0;
	}
	if (!ok)
		json_decref(TAKE_PTR(index));
	return index;
}

static void add_own_labels(struct maker *m, const char *prefix, const json_t *labels)
{
	const char *key;
	const json_t *value;

	json_object_foreach((json_t *)labels, key, value)
	{
		const char *text = json_string_value(value);
		size_t n = strlen(key) + json_string_length(value);

		if (!text)
			continue;
		if (m->b.n + LABELS_ROOM >= LABELS_RAW_MAX || n > TEXTS_MAX_BYTES - m->n_texts) {
			m->counts.n_cut++;
			continue;
		}
		m->n_texts += n;
		label_builder_add_key(&m->b, prefix, key, text);
	}
}

static const char *bool_text(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key)) ? "true" : "false";
}

/* Nothing of one that is not listed: it may be younger than the list. */
static void add_network(struct maker *m, const json_t *endpoint)
{
	const char *id = text_of(endpoint, "NetworkID");
	const json_t *network = id ? json_object_get(m->networks, id) : NULL;

	label_builder_add(&m->b, DOCKER "network_ip", text_of(endpoint, "IPAddress"));
	if (!network)
		return;
	label_builder_add(&m->b, DOCKER "network_id", id);
	label_builder_add(&m->b, DOCKER "network_name", text_of(network, "Name"));
	label_builder_add(&m->b, DOCKER "network_scope", text_of(network, "Scope"));
	label_builder_add(&m->b, DOCKER "network_internal", bool_text(network, "Internal"));
	label_builder_add(&m->b, DOCKER "network_ingress", bool_text(network, "Ingress"));
	add_own_labels(m, DOCKER "network_label_", json_object_get(network, "Labels"));
}

/* Makes a target of the labels so far, and forgets those after the first n. */
static int add_target(struct maker *m, size_t n, const char *address)
{
	struct labels *labels;

	label_builder_add(&m->b, "__address__", address);
	int r = label_builder_make(&m->b, &labels);
	label_builder_cut(&m->b, n);
	if (r < 0)
		return r;
	m->n_targets++;
	r = target_list_add(m->list, labels);
	if (r != -E2BIG)
		return r;
	m->counts.n_cut++;
	return 0;
}

/* As Go joins them: an IPv6 address in brackets. */
static const char *address_of(char *out, const json_t *endpoint, unsigned int port)
{
	const char *ip = text_of(endpoint, "IPAddress");
	bool brackets = ip && strpbrk(ip, ":%");

	(void)snprintf(out, ADDRESS_MAX_BYTES, "%s%s%s:%u", brackets ? "[" : "", ip ? ip : "",
		       brackets ? "]" : "", port);
	return out;
}

static void add_number(struct maker *m, const char *name, unsigned int number)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", number);
	label_builder_add(&m->b, name, text);
}

static int add_port(struct maker *m, const json_t *endpoint, const struct docker_port *port)
{
	char address[ADDRESS_MAX_BYTES];
	size_t n = m->b.n;

	add_number(m, DOCKER "port_private", port->private_port);
	if (port->public_port > 0) {
		add_number(m, DOCKER "port_public", port->public_port);
		label_builder_add(&m->b, DOCKER "port_public_ip", port->public_ip);
	}
	return add_target(m, n, address_of(address, endpoint, port->private_port));
}

/* One with the host's network has no ports of its own. */
static int add_portless(struct maker *m, const json_t *container, const json_t *endpoint)
{
	const char *mode = text_of(json_object_get(container, "HostConfig"), "NetworkMode");
	char address[ADDRESS_MAX_BYTES];

	if (mode && strcmp(mode, "host") == 0)
		return add_target(m, m->b.n, m->o->host_networking_host);
	return add_target(m, m->b.n, address_of(address, endpoint, m->o->port));
}

static int add_ports(struct maker *m, const json_t *container, const json_t *endpoint)
{
	_cleanup_free_ struct docker_port *ports = NULL;
	size_t n;
	int r = docker_ports_make(json_object_get(container, "Ports"), &ports, &n);

	if (r < 0)
		return r;
	if (n == 0)
		return add_portless(m, container, endpoint);
	for (size_t i = 0; i < n; i++) {
		if (m->n_targets >= TARGETS_MAX_PER_CONTAINER) {
			m->counts.n_cut++;
			continue;
		}
		r = add_port(m, endpoint, &ports[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(((const struct network *)left)->name, ((const struct network *)right)->name);
}

/* By name, so that equal answers make equal lists. */
static size_t sorted_networks(struct maker *m, const json_t *networks, struct network *items)
{
	const char *name;
	json_t *endpoint;
	size_t n = 0;

	json_object_foreach((json_t *)networks, name, endpoint)
	{
		if (json_is_object(endpoint) && n < NETWORKS_MAX)
			items[n++] = (struct network){ name, endpoint };
		else if (json_is_object(endpoint))
			m->counts.n_cut++;
	}
	qsort(items, n, sizeof(*items), compare_names);
	return n;
}

static const json_t *own_networks(const json_t *container)
{
	return json_object_get(json_object_get(container, "NetworkSettings"), "Networks");
}

/* One that was told to share another's has none of its own. */
static const json_t *networks_of(const struct maker *m, const json_t *container)
{
	static const char prefix[] = "container:";

	for (int i = 0; i < SHARED_MAX && json_object_size(own_networks(container)) == 0; i++) {
		const char *mode = text_of(json_object_get(container, "HostConfig"), "NetworkMode");

		if (!mode || strncmp(mode, prefix, strlen(prefix)) != 0)
			break;
		container = json_object_get(m->containers, mode + strlen(prefix));
	}
	return own_networks(container);
}

static void add_identity(struct maker *m, const json_t *container, const char *name)
{
	const json_t *host_config = json_object_get(container, "HostConfig");

	label_builder_add(&m->b, DOCKER "container_id", text_of(container, "Id"));
	label_builder_add(&m->b, DOCKER "container_name", name);
	label_builder_add(&m->b, DOCKER "container_network_mode",
			  text_of(host_config, "NetworkMode"));
	add_own_labels(m, DOCKER "container_label_", json_object_get(container, "Labels"));
}

static int add_networks(struct maker *m, const json_t *container, const json_t *networks)
{
	struct network items[NETWORKS_MAX];
	size_t n = sorted_networks(m, networks, items);
	int r = 0;

	if (m->o->match_first_network)
		n = MIN_OF(n, (size_t)1);
	for (size_t i = 0; r == 0 && i < n; i++) {
		size_t n_labels = m->b.n;

		add_network(m, items[i].endpoint);
		r = add_ports(m, container, items[i].endpoint);
		label_builder_cut(&m->b, n_labels);
	}
	return r;
}

static int add_container(struct maker *m, const json_t *container)
{
	const char *name =
		json_string_value(json_array_get(json_object_get(container, "Names"), 0));
	const json_t *networks = networks_of(m, container);
	int r = 0;

	m->counts.n_containers++;
	m->n_texts = m->n_targets = 0;
	if (name && json_object_size(networks) > 0) {
		label_builder_init(&m->b);
		add_identity(m, container, name);
		r = add_networks(m, container, networks);
		label_builder_fini(&m->b);
	}
	m->counts.n_without_network += m->n_targets == 0;
	return r;
}

static void maker_fini(struct maker *m)
{
	json_decref(m->containers);
	json_decref(m->networks);
}

int docker_targets_make(const json_t *containers, const json_t *networks,
			const struct docker_targets_options *o, struct target_list *list,
			struct docker_counts *ret_counts)
{
	_cleanup_(maker_fini) struct maker m = { .o = o, .list = list };

	if (!json_is_array(containers))
		return -EBADMSG;
	m.containers = index_by_id(containers);
	m.networks = index_by_id(networks);
	if (!m.containers || !m.networks)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(containers); i++) {
		const json_t *container = json_array_get(containers, i);
		int r = json_is_object(container) ? add_container(&m, container) : 0;

		if (r < 0)
			return r;
	}
	*ret_counts = m.counts;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The TCP ports of a container, as Docker lists them. */
#include "agent/discovery/docker_ports.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* A 16-bit number (RFC 9293 §3.1). */
#define PORT_MAX 65535
/* Every TCP port, published on every address of a host that has a few; more is nobody's. */
#define LISTED_MAX ((size_t)1 << 20)

static unsigned int port_of(const json_t *port, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(port, key));

	return n > 0 && n <= PORT_MAX ? (unsigned int)n : 0;
}

static bool is_tcp(const json_t *port)
{
	const char *type = json_string_value(json_object_get(port, "Type"));

	return type && strcmp(type, "tcp") == 0;
}

static int compare_numbers(unsigned int a, unsigned int b)
{
	return (a > b) - (a < b);
}

/* Of equal private ports a published one comes first. */
static int compare(const void *left, const void *right)
{
	const struct docker_port *a = left;
	const struct docker_port *b = right;
	int r = compare_numbers(a->private_port, b->private_port);

	if (r != 0)
		return r;
	r = compare_numbers(a->public_port == 0, b->public_port == 0);
	if (r != 0)
		return r;
	r = strcmp(a->public_ip ? a->public_ip : "", b->public_ip ? b->public_ip : "");
	return r != 0 ? r : compare_numbers(a->public_port, b->public_port);
}

static size_t read_ports(const json_t *ports, size_t n, struct docker_port *items)
{
	size_t n_items = 0;

	for (size_t i = 0; i < n; i++) {
		const json_t *port = json_array_get(ports, i);
		const struct docker_port p = {
			.private_port = port_of(port, "PrivatePort"),
			.public_port = port_of(port, "PublicPort"),
			.public_ip = json_string_value(json_object_get(port, "IP")),
		};

		if (is_tcp(port) && p.private_port != 0)
			items[n_items++] = p;
	}
	return n_items;
}

int docker_ports_make(const json_t *ports, struct docker_port **ret_ports, size_t *ret_n)
{
	size_t n = MIN_OF(json_array_size(ports), LISTED_MAX);
	_cleanup_free_ struct docker_port *items = calloc(n + 1, sizeof(*items));
	size_t n_unique = 0;

	if (!items)
		return -ENOMEM;
	n = read_ports(ports, n, items);
	qsort(items, n, sizeof(*items), compare);
	for (size_t i = 0; i < n; i++)
		if (n_unique == 0 || items[n_unique - 1].private_port != items[i].private_port)
			items[n_unique++] = items[i];
	*ret_ports = TAKE_PTR(items);
	*ret_n = n_unique;
	return 0;
}

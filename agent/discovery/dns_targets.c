/* SPDX-License-Identifier: Apache-2.0 */
/* The records of names as targets. */
#include "agent/discovery/dns_targets.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/dns_lookup.h"
#include "agent/util/clock.h"

/* Questions under way at once, each with a socket. */
#define MAX_LOOKUPS 16
/* A name as text, brackets, colon, port. */
#define ADDRESS_BYTES (DNS_NAME_TEXT_BYTES + 16)
#define PROBLEM_BYTES 256

struct name {
	struct dns_targets *all;
	const char *name;
	struct target_list targets; /* the last good ones */
	struct dns_lookup *lookup;
	bool is_waiting; /* to be looked up in this refresh */
	bool was_asked;
	char problem[PROBLEM_BYTES];
};

struct dns_targets {
	struct loop *loop;
	struct dns_targets_options o;
	struct dns_config config;
	struct loop_timer *timer;
	struct name *names;
	size_t n_lookups;
	dns_targets_fn fn;
	void *data;
};

/* ---- one answer --------------------------------------------------------------------------------------- */

struct record_text {
	char address[ADDRESS_BYTES]; /* host:port */
	char port[8];
};

/* As a URL has it: an IPv6 address in brackets. A name without the dot at its end, so it looks as usual. */
static void write_record(const struct dns_targets_options *o, const struct dns_record *record,
			 struct record_text *text)
{
	uint16_t port = o->type == DNS_SRV ? record->port : o->port;
	char address[INET6_ADDRSTRLEN] = "";

	(void)snprintf(text->port, sizeof(text->port), "%u", port);
	if (o->type == DNS_A || o->type == DNS_AAAA) {
		(void)inet_ntop(o->type == DNS_A ? AF_INET : AF_INET6, record->address, address,
				sizeof(address));
		(void)snprintf(text->address, sizeof(text->address),
			       o->type == DNS_A ? "%s:%u" : "[%s]:%u", address, port);
		return;
	}
	(void)snprintf(text->address, sizeof(text->address), "%.*s:%u",
		       (int)strlen(record->target) - 1, record->target, port);
}

static int add_target(const struct dns_targets_options *o, const char *name,
		      const struct dns_record *record, struct target_list *list)
{
	struct labels *labels = NULL;
	struct record_text text;

	write_record(o, record, &text);
	const struct label items[] = {
		{ "__address__", text.address },
		{ "__meta_dns_name", name },
		{ "__meta_dns_srv_record_target", o->type == DNS_SRV ? record->target : "" },
		{ "__meta_dns_srv_record_port", o->type == DNS_SRV ? text.port : "" },
		{ "__meta_dns_mx_record_target", o->type == DNS_MX ? record->target : "" },
		{ "__meta_dns_ns_record_target", o->type == DNS_NS ? record->target : "" },
	};
	int r = labels_new(items, sizeof(items) / sizeof(items[0]), &labels);
	return r < 0 ? r : target_list_add(list, labels);
}

static int by_address(const void *a, const void *b)
{
	const struct labels *const *x = a, *const *y = b;

	return strcmp(labels_get(*x, "__address__"), labels_get(*y, "__address__"));
}

/* RFC 2782, RFC 7505: a target that is the root says that there is none. */
static bool is_nowhere(const struct dns_targets_options *o, const struct dns_record *record)
{
	return o->type != DNS_A && o->type != DNS_AAAA && strcmp(record->target, ".") == 0;
}

int dns_targets_of_answer(const struct dns_targets_options *o, const char *name,
			  const struct dns_answer *answer, struct target_list *list)
{
	size_t first = list->n;
	int r = 0;

	for (size_t i = 0; r == 0 && i < answer->n_records; i++)
		if (!is_nowhere(o, &answer->records[i]))
			r = add_target(o, name, &answer->records[i], list);
	if (list->n > first)
		qsort(list->items + first, list->n - first, sizeof(struct labels *), by_address);
	return r;
}

/* ---- all names ---------------------------------------------------------------------------------------- */

static void pump(struct dns_targets *t);

static bool take_answer(struct name *n, const struct dns_answer *answer)
{
	_cleanup_target_list_ struct target_list list = { 0 };
	int r = dns_targets_of_answer(&n->all->o, n->name, answer, &list);

	if (r < 0) {
		(void)snprintf(n->problem, sizeof(n->problem), "%s", strerrordesc_np(-r));
		return false;
	}
	n->problem[0] = '\0';
	if (target_list_equal(&n->targets, &list))
		return false;
	struct target_list old = n->targets;
	n->targets = list;
	list = old;
	return true;
}

static void on_answer(const struct dns_answer *answer, const char *problem, void *data)
{
	struct name *n = data;
	struct dns_targets *t = n->all;
	bool changed = false;

	assert(t->n_lookups > 0);
	n->lookup = NULL;
	n->was_asked = true;
	t->n_lookups--;
	if (answer)
		changed = take_answer(n, answer);
	else
		(void)snprintf(n->problem, sizeof(n->problem), "%s", problem);
	pump(t);
	t->fn(changed, t->data);
}

static void look_up(struct dns_targets *t, struct name *n)
{
	struct dns_lookup_options options = {
		.config = t->o.config ? t->o.config : &t->config,
		.name = n->name,
		.type = t->o.type,
		.timeout_ns = t->o.timeout_ns,
	};
	int r = dns_lookup_start(t->loop, &options, on_answer, n, &n->lookup);

	n->is_waiting = false;
	if (r == 0)
		t->n_lookups++;
	else
		(void)snprintf(n->problem, sizeof(n->problem), "%s", strerrordesc_np(-r));
}

static void pump(struct dns_targets *t)
{
	for (size_t i = 0; i < t->o.n_names && t->n_lookups < MAX_LOOKUPS; i++)
		if (t->names[i].is_waiting)
			look_up(t, &t->names[i]);
}

/* The servers of lookups that are under way stay what they were: those wait for the next time. */
static void on_timer(void *data)
{
	struct dns_targets *t = data;

	loop_timer_arm(t->timer, clock_mono_ns() + t->o.refresh_interval_ns);
	if (t->n_lookups > 0)
		return;
	if (!t->o.config)
		(void)dns_config_load(DNS_CONFIG_PATH, &t->config);
	for (size_t i = 0; i < t->o.n_names; i++)
		t->names[i].is_waiting = true;
	pump(t);
}

void dns_targets_start(struct dns_targets *t)
{
	on_timer(t);
}

int dns_targets_new(struct loop *loop, const struct dns_targets_options *options, dns_targets_fn fn,
		    void *data, struct dns_targets **ret_targets)
{
	_cleanup_(dns_targets_freep) struct dns_targets *t = calloc(1, sizeof(*t));

	assert(fn);
	if (!t || options->n_names > DNS_TARGETS_MAX_NAMES)
		return t ? -E2BIG : -ENOMEM;
	t->loop = loop;
	t->fn = fn;
	t->data = data;
	t->names = calloc(options->n_names + 1, sizeof(*t->names));
	if (!t->names)
		return -ENOMEM;
	t->o = *options;
	for (size_t i = 0; i < t->o.n_names; i++)
		t->names[i] = (struct name){ .all = t, .name = t->o.names[i] };
	int r = loop_timer_new(loop, on_timer, t, &t->timer);
	if (r < 0)
		return r;
	*ret_targets = TAKE_PTR(t);
	return 0;
}

void dns_targets_free(struct dns_targets *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->o.n_names; i++) {
		dns_lookup_cancel(t->names[i].lookup);
		target_list_fini(&t->names[i].targets);
	}
	loop_timer_free(t->timer);
	free(t->names);
	free(t);
}

/* ---- what is known ------------------------------------------------------------------------------------ */

size_t dns_targets_n_names(const struct dns_targets *t)
{
	return t->o.n_names;
}

struct dns_targets_name dns_targets_name(const struct dns_targets *t, size_t i)
{
	assert(i < t->o.n_names);

	const struct name *n = &t->names[i];

	return (struct dns_targets_name){ .name = n->name,
					  .targets = &n->targets,
					  .problem = n->problem,
					  .was_asked = n->was_asked };
}

int dns_targets_get(const struct dns_targets *t, struct target_list *ret_list)
{
	int r = 0;

	assert(ret_list->n == 0);
	for (size_t i = 0; i < t->o.n_names; i++)
		for (size_t k = 0; r == 0 && k < t->names[i].targets.n; k++)
			r = target_list_add(ret_list, labels_ref(t->names[i].targets.items[k]));
	if (r < 0)
		target_list_fini(ret_list);
	return r;
}

void dns_targets_inherit(struct dns_targets *t, struct dns_targets *from)
{
	for (size_t i = 0; i < t->o.n_names; i++)
		for (size_t k = 0; k < from->o.n_names; k++)
			if (t->names[i].targets.n == 0 &&
			    strcmp(t->names[i].name, from->names[k].name) == 0) {
				t->names[i].targets = from->names[k].targets;
				from->names[k].targets = (struct target_list){ 0 };
			}
}

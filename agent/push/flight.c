/* SPDX-License-Identifier: Apache-2.0 */
/* One request under way. */
#include "agent/push/flight.h"

#include <assert.h>
#include <stdlib.h>

#include "agent/push/relay.h"

struct push_flight *push_flight_new(struct push_endpoint *endpoint)
{
	struct push_flight *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->endpoint = endpoint;
	list_init(&f->node);
	list_init(&f->entries);
	push_body_init(&f->body);
	return f;
}

void push_flight_free(struct push_flight *f)
{
	if (!f)
		return;
	assert(list_empty(&f->entries));
	http_request_cancel(f->request);
	list_remove(&f->node);
	push_body_fini(&f->body);
	free(f);
}

void push_flight_add(struct push_flight *f, struct push_entry *entry)
{
	list_push_back(&f->entries, &entry->node);
	f->n++;
	f->n_bytes += entry->profile->n;
}

struct push_entry *push_flight_take(struct push_flight *f)
{
	if (list_empty(&f->entries))
		return NULL;
	struct push_entry *entry = LIST_ENTRY(f->entries.next, struct push_entry, node);

	list_remove(&entry->node);
	f->n--;
	f->n_bytes -= entry->profile->n;
	return entry;
}

int push_flight_encode(struct push_flight *f, const struct push_protocol *protocol)
{
	const struct push_profile *profiles[PUSH_MAX_BATCH];
	size_t n = 0;

	assert(f->n <= PUSH_MAX_BATCH);
	profiles[0] = LIST_ENTRY(f->entries.next, struct push_entry, node)->profile;
	f->relay = push_relay_of(profiles[0]);
	if (f->relay) {
		push_body_add_shared(&f->body, profiles[0]->bytes);
		return push_body_close(&f->body);
	}
	LIST_FOREACH (&f->entries, at)
		profiles[n++] = LIST_ENTRY(at, struct push_entry, node)->profile;
	int r = protocol->encode(profiles, n, &f->body);
	return r < 0 ? r : push_body_close(&f->body);
}

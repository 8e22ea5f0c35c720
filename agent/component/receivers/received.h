/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles that came from outside as pprof, on their way to the receivers of an argument `forward_to`.
 *
 *	profile_of_pprof() ──► received_deliver() ─┬──────────────────────────────────────► receivers, at once
 *	                                           └─► worker: tables, forms of them ──► receivers
 *
 * The bytes go on as they came: pyroscope.write sends them without a copy and without a look, pyroscope.relabel changes the labels alone, and
 * pyroscope.store checks them as it checks what is pushed to it. Only where a receiver wants a form of OpenTelemetry are they unpacked, checked
 * and encoded, on a thread of its own; so are those that may be larger than servers take (divided.h). Where labels change on the way (PROFILE_WANT_APART), their time is read there, and one that has the
 * millisecond of another gets the next that is free (moments.h). Bytes that cannot be are counted (`profiles_not_encoded`, with a line of the log a minute); then the
 * receivers that wanted them count the profile as dropped (`not_encoded`), and all others have it as it came.
 *
 *	labels	as they are to be sent: __name__ is what the profile is called ("process_cpu", "memory"), service_name who it is of. Others that
 *		begin with "__" stay for pyroscope.relabel; pyroscope.write leaves them out
 *	time	of its samples; what the bytes say of it stays as it is
 *
 * Loop thread.
 */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVED_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_RECEIVED_H

#include "agent/component/component.h"
#include "agent/component/receiver.h"
#include "river-config/river.h"

struct received;

/* For one component: counters are labelled with it. Borrowed. 0 or -errno. */
int received_new(const struct component *c, struct received **ret_received);
/* Those that wait for the worker are delivered. NULL-safe. */
void received_free(struct received *r);
DEFINE_CLEANUP(struct received *, received_free);

/* From now on, also for those that wait; borrowed. Before the first is delivered, and whenever arguments change. */
void received_forward_to(struct received *r, const struct river_capsules *to);

/* Whether a receiver would take so many bytes more without dropping anything: else their sender should keep them. */
bool received_has_room(const struct received *r, size_t n_bytes);

/* Whether any of them sends on what it cannot read: what a pyroscope.write gets for a Pyroscope server (agent/push/relay.h). */
bool received_may_relay(const struct received *r);

/* Takes the reference, which must be the only one: *profile becomes NULL. For deadline_ns see receiver.h. */
void received_deliver(struct received *r, struct profile **profile, uint64_t deadline_ns);

#endif

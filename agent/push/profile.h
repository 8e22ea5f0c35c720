/* SPDX-License-Identifier: Apache-2.0 */
/* One profile on its way out, shared by all endpoints: the labels as they are sent, and its bytes, which nobody copies. Immutable but for its
 * references; loop thread. Inside of agent/push. */
#ifndef XAGENT_AGENT_PUSH_PROFILE_H
#define XAGENT_AGENT_PUSH_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/push/labels.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/buf.h"
#include "agent/util/cleanup.h"
#include "agent/util/shared_bytes.h"

/* Pyroscope's largest profile is 4 MiB before compression; nothing sensible comes near after it. */
#define PUSH_MAX_PROFILE_BYTES ((size_t)16 << 20)

struct push_profile {
	unsigned int n_refs;
	struct push_label *labels; /* sorted by name; owned, the texts with it */
	size_t n_labels;
	struct shared_bytes *bytes; /* a reference */
	size_t n;		    /* that wait: bytes and labels */
	uint64_t n_samples;
	uint64_t deadline_ns; /* real time */
	uint64_t begin_ns;    /* monotonic, when it may be sent first */
	struct metric *
		total; /* borrowed: gets the time until the last endpoint was done with it; may be NULL */
};

/* With one reference; copies the labels and takes a reference to the bytes. The rest is the caller's to fill. 0, -EMSGSIZE or -ENOMEM. */
int push_profile_new(const struct push_labels *labels, struct shared_bytes *bytes,
		     struct push_profile **ret_profile);
/* Since it could be sent, until now. */
uint64_t push_profile_age_ns(const struct push_profile *p);
struct push_profile *push_profile_ref(struct push_profile *p);
void push_profile_unref(struct push_profile *p); /* NULL-safe */
DEFINE_CLEANUP(struct push_profile *, push_profile_unref);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles that came by OpenTelemetry's protocol, as pprof of one series each. Any thread; pure but for the random seeds of tables.
 */
#ifndef XAGENT_AGENT_STORE_OTLP_OTLP_READ_H
#define XAGENT_AGENT_STORE_OTLP_OTLP_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/store/ingest/read_budget.h"
#include "agent/target/label.h"
#include "agent/util/buf.h"
#include "agent/util/shared_bytes.h"

/* What one request may cost besides its memory. */
#define OTLP_READ_MAX_ELEMENTS ((size_t)4 << 20)
#define OTLP_READ_MAX_CPU_NS (5 * UINT64_C(1000000000))
/* A request of so many bytes has a profile for each container of a large host. */
#define OTLP_READ_MAX_SERIES 1024

/* As it was received. */
struct otlp_bytes {
	const void *data;
	size_t n;
	bool is_gzip;
	bool is_json; /* OTLP's encoding of the same message */
	size_t max_plain_bytes; /* of the message */
};

enum otlp_read_outcome {
	OTLP_READ,
	OTLP_READ_BROKEN,    /* not gzip, not such a message, or one with mistakes */
	OTLP_READ_TOO_LARGE, /* more than may be */
};

struct otlp_series {
	struct labels *labels;	    /* __name__ and service_name among them */
	struct shared_bytes *pprof; /* gzip'd */
	uint64_t time_ns;	    /* of its samples, Unix time */
	/* What a store tells one profile of another by. */
	uint64_t type;
};

struct otlp_profiles {
	struct otlp_series *items;
	size_t n;
	size_t n_bytes;			/* of all pprof */
	uint64_t n_profiles, n_samples; /* of the request */
};

/* `now_ns`: for profiles without a time. An outcome, with a sentence in `why` unless it is OTLP_READ; -ENOMEM; -ECANCELED, and the budget,
 * which has begun, tells what was used up. */
int otlp_read(const struct otlp_bytes *bytes, uint64_t now_ns, struct read_budget *budget,
	      struct buf *why, struct otlp_profiles *ret_profiles);
void otlp_profiles_fini(struct otlp_profiles *profiles);

#endif

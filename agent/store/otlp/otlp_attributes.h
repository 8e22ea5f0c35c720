/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes as labels: those of resources and scopes are of a series, those of samples of samples. Inside of agent/store/otlp. */
#ifndef XAGENT_AGENT_STORE_OTLP_OTLP_ATTRIBUTES_H
#define XAGENT_AGENT_STORE_OTLP_OTLP_ATTRIBUTES_H

#include "agent/encode/profile.h"
#include "agent/target/label.h"
#include "agent/util/arena.h"

struct Otlp__Profiles__ProfilesDictionary;
struct Otlp__Profiles__ResourceProfiles;
struct Otlp__Profiles__Sample;
struct Otlp__Profiles__ScopeProfiles;

/* Attributes of samples by their place in the table, each made when it is first met. Texts are the message's, or of the arena. */
struct otlp_attributes {
	const struct Otlp__Profiles__ProfilesDictionary *d;
	struct arena *arena;
	struct otlp_attribute_label {
		const char *name, *value; /* NULL: none */
		bool is_made;
	} * labels;
	struct {
		char trace_id[33], span_id[17];
	} link; /* of the sample at hand */
};

/* 0 or -ENOMEM. In the arena. */
int otlp_attributes_init(struct otlp_attributes *a,
			 const struct Otlp__Profiles__ProfilesDictionary *d, struct arena *arena);

/* Of a series: all attributes as labels, and service_name; without __name__. `service`: that of a sample, NULL: none. 0 or -ENOMEM. */
int otlp_series_labels(const struct Otlp__Profiles__ProfilesDictionary *d,
		       const struct Otlp__Profiles__ResourceProfiles *resource,
		       const struct Otlp__Profiles__ScopeProfiles *scope, struct arena *arena,
		       struct labels **ret_labels);
/* The same labels with another service; and with the name of a profile. 0 or -ENOMEM. */
int otlp_series_named(struct labels *labels, const char *service, const char *name,
		      struct labels **ret_labels);

/* service.name of a sample; NULL: it has none. */
const char *otlp_sample_service(const struct otlp_attributes *a,
				const struct Otlp__Profiles__Sample *s);
/* The labels of a sample, `max` at most, and those of its link besides: texts hold until the next call. -ENOMEM or their number. */
int otlp_sample_labels(struct otlp_attributes *a, const struct Otlp__Profiles__Sample *s,
		       size_t max, struct pprof_label *labels);
/* Room for these. */
#define OTLP_SAMPLE_MAX_LABELS (LABELS_MAX + 2)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of a profile of /ingest. Pure. */
#ifndef XAGENT_AGENT_RECEIVE_INGEST_LABELS_H
#define XAGENT_AGENT_RECEIVE_INGEST_LABELS_H

#include "agent/receive/ingest_name.h"
#include "agent/util/str.h"

struct ingest_labels_options {
	const struct ingest_name *name;
	struct str app; /* what of the name's app is the service */
	const char *metric, *spy;
	bool keeps_app; /* a service that is named otherwise does not hide the app: it becomes app_name */
	struct str profile_name; /* of a file of several; p NULL: none */
	const char *relay;	 /* of what is not read here (agent/push/relay.h); NULL: it was */
};

/* 0, -E2BIG, -ENOMEM. */
int ingest_labels_make(const struct ingest_labels_options *options, struct labels **ret_labels);

/* __name__ of a pprof by its types ("cpu\nsamples\n"), called as `config` says: a text of JSON, or none. */
void ingest_labels_metric(struct str types, struct str config, struct buf *ret_metric);

#endif

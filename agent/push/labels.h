/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which labels are sent. Pure.
 *
 *	- of the profile's labels, those that begin with "__" stay here, except __name__ and
 *__delta__;
 *	- external labels are laid over them and win;
 *	- what the server would refuse the whole profile for is left out and counted: names outside
 *[a-zA-Z_][a-zA-Z0-9_]* (v1 servers know no others), names and values that are too long, values
 *that are not UTF-8, more labels than it takes;
 *	- an empty value is no label.
 */
#ifndef XAGENT_AGENT_PUSH_LABELS_H
#define XAGENT_AGENT_PUSH_LABELS_H

#include <stddef.h>

#include "agent/util/buf.h"

/* Pyroscope's validation.max-label-names-per-series, max-length-label-name, max-length-label-value.
 */
#define PUSH_MAX_LABELS 30
#define PUSH_MAX_LABEL_NAME_BYTES 1024
#define PUSH_MAX_LABEL_VALUE_BYTES 2048

struct push_label {
	const char *name;
	const char *value;
};

struct push_labels {
	struct push_label
		items[PUSH_MAX_LABELS]; /* sorted by name; strings borrowed from the arguments */
	size_t n;
	size_t n_dropped; /* what the server would have refused */
};

/* When there are too many, __name__ and service_name stay, then external labels, then the profile's
 * in the order given. */
void push_labels_select(const struct push_label *labels, size_t n_labels,
			const struct push_label *external, size_t n_external,
			struct push_labels *ret_labels);

/* One more, which is never left out: another goes where there is no room. */
void push_labels_add(struct push_labels *labels, const struct push_label *label);

/* Appends {a="b", c="d"} for a person. */
void push_labels_print(const struct push_label *labels, size_t n, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets: which series a process belongs to.
 *
 * A target set is made from the configuration's list of label maps (as discovery hands them) and
 * decides for each process once: by pid, then by container id, then the default. The outcome is the
 * label set of the series, ready to be sent: internal labels ("__…" but __name__) dropped,
 * service_name inferred, names and values within the server's limits, at most LABELS_MAX. Equal
 * sets are one object: a caller may group by pointer. Processes that nobody has given labels get
 * those that tell where they run (process_place.h).
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_TARGET_TARGET_H
#define XAGENT_AGENT_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/target/container_metadata.h"
#include "agent/target/label_sanitizer_notes.h"
#include "agent/target/label.h"
#include "agent/telemetry/telemetry.h"

/* Ten times the targets of the largest node we know of; those behind are rejected and counted. */
#define TARGETS_MAX 100000

struct target_set;

struct target_set_options {
	/* Borrowed for the call, references are taken; NULL with n_targets 0. */
	struct labels *const *targets;
	size_t n_targets;
	bool have_targets; /* false: no `targets` argument at all, every process is profiled */
	bool targets_only; /* with have_targets: processes without a target are not profiled */
	/* Labels of processes without a target, copied. Without a name in them service_name is
	 * inferred from the process, as it is with NULL. */
	const struct labels *default_target;
	/* Copied: the `host` label of every series that has none of its own; NULL: no such label. */
	const char *host;
	/* Borrowed, may be NULL: what is written down about containers, for names of processes whose
	 * target gives none, and for labels where there is neither a target nor a default. */
	struct container_metadata *metadata;
	bool script_names; /* an interpreter is called after what it runs */
	/* Borrowed, may be NULL: notes what is done to labels before they may be sent. */
	struct label_sanitizer_notes *notes;
	struct telemetry *telemetry; /* borrowed, required */
	/* Borrowed for the call, may be NULL: the set that the new one takes the place of. What it has found out about targets that are in both
	 * is taken over, their series included. */
	struct target_set *previous;
};

int target_set_new(const struct target_set_options *o, struct target_set **ret_set);
void target_set_free(struct target_set *s);
DEFINE_CLEANUP(struct target_set *, target_set_free);

/* Number of targets that can select a process: of two that name the same process or container only
 * the last counts. */
size_t target_set_n(const struct target_set *s);

/* The series of a process: a new reference in *ret_labels and TARGET_FOUND; TARGET_DEFAULT, likewise,
 * when no target selects it and that of the default is what it gets; TARGET_NONE when it is not to be
 * profiled; -ENOMEM. Reads the process's identity only where that decides. */
enum target_outcome { TARGET_FOUND = 0, TARGET_NONE = 1, TARGET_DEFAULT = 2 };
int target_set_match(struct target_set *s, struct process_table *processes, struct process *p,
		     struct labels **ret_labels);

/* The series that is nobody's target, with this name: as all others it has the host label, and nothing that may not be sent. A new
 * reference. 0 or -ENOMEM. */
int target_set_series(struct target_set *s, const char *service_name, struct labels **ret_labels);

/* What the kernel half may skip: true when no process but those of pids in the set can match. */
bool target_set_pids_only(const struct target_set *s);

#endif

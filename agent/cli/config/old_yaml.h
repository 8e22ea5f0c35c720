/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The YAML that an older profiler was configured with: `ebpf.programs[]`, of which one is `profile`.
 *
 *	net: { pyroscope: URL }
 *	eBPF:
 *	  programs:
 *	  - name: profile
 *	    args:
 *	      private:
 *	        gather_interval: 5			seconds
 *	        sample_rate: 97				Hz
 *	        targets:
 *	        - { name: web, match: MatchTargetComm, val: nginx, labels: [ { l_name: app, l_val: web } ] }
 *
 * Case of the outer keys does not matter, and settings may stand in the entry itself, in `args`, in `private` or in `profile`. The texts
 * belong to the arena. Pure.
 */
#ifndef XAGENT_AGENT_CLI_CONFIG_OLD_YAML_H
#define XAGENT_AGENT_CLI_CONFIG_OLD_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "river-config/yaml_node.h"

/* More targets, or labels of one, than a person writes; what is beyond is a mistake that is told. */
#define OLD_YAML_MAX_ITEMS 1000

enum old_match { OLD_MATCH_NONE, OLD_MATCH_COMM, OLD_MATCH_PGID, OLD_MATCH_PIDNS, OLD_MATCH_MAX };

struct old_label {
	const char *name, *value;
};

struct old_target {
	const char *name, *value;
	enum old_match match;
	struct old_label *labels; /* owned */
	size_t n_labels;
	const struct river_yaml_node *at;
};

struct old_yaml {
	struct river_arena arena;
	const char *url;	    /* NULL: none */
	uint64_t interval_ns;	    /* 0: not given */
	uint64_t sample_rate_hz;    /* 0: not given */
	struct old_target *targets; /* owned */
	size_t n_targets;
};

/* What there is to say: "Error: file:line:column: …" and "Warning: …", a line each. */
struct old_notes {
	const char *file;
	struct buf *out;
	size_t n_errors;
};

/* `at` may be NULL: it is of the whole file. */
void old_note(struct old_notes *notes, bool is_error, const struct river_yaml_node *at,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* 0; -EINVAL after at least one error; -ENOMEM. */
int old_yaml_read(const char *text, size_t n, struct old_notes *notes, struct old_yaml *ret_yaml);
void old_yaml_fini(struct old_yaml *y);

#endif

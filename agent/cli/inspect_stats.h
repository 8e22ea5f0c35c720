/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of unwind tables, as aligned columns: a header, one line a file, a total. */
#ifndef XAGENT_AGENT_CLI_INSPECT_STATS_H
#define XAGENT_AGENT_CLI_INSPECT_STATS_H

#include "agent/unwind/row_table.h"

struct inspect_stats_line {
	const char *path; /* borrowed */
	struct row_table_stats table;
	uint64_t n_eh_frame_bytes;
	uint64_t build_ns;
};

struct inspect_stats {
	struct inspect_stats_line *lines; /* owned */
	size_t n;
};

void inspect_stats_fini(struct inspect_stats *s);
#define _cleanup_inspect_stats_ _cleanup_(inspect_stats_fini)

/* `path` is borrowed; `table` NULL: no rules. 0 or -ENOMEM. */
int inspect_stats_add(struct inspect_stats *s, const char *path,
		      const struct row_table_stats *table, uint64_t n_eh_frame_bytes,
		      uint64_t build_ns);
/* To standard output. 0 or -errno. */
int inspect_stats_print(const struct inspect_stats *s);

#endif

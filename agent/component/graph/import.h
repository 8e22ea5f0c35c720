/* SPDX-License-Identifier: Apache-2.0 */
/* import.file, import.string: declares from elsewhere. Private to the graph's files. */
#ifndef XAGENT_AGENT_COMPONENT_GRAPH_IMPORT_H
#define XAGENT_AGENT_COMPONENT_GRAPH_IMPORT_H

#include "agent/component/graph/node.h"

/* One file of a module has as much room as a configuration; a directory as many files. */
#define IMPORT_MAX_BYTES ((size_t)16 << 20)
#define IMPORT_MAX_FILES 1000

struct import_texts {
	struct river_source *sources; /* in the arena */
	size_t n;
	uint64_t hash;	  /* of all of it */
	const char *path; /* module_path inside; NULL: as outside */
};

extern const struct component_kind import_file_kind, import_string_kind;
/* In configurations of other agents; nothing is said about them but that they are not supported. */
extern const struct component_kind import_http_kind, import_git_kind;
bool import_is_supported(const struct component_kind *kind);

/* What the arguments mean now. 0, or -errno with a sentence in `why`. */
int import_read(const struct component_kind *kind, const void *args, struct river_arena *arena,
		struct buf *why, struct import_texts *ret_texts);

#endif

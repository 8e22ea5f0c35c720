/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration texts from a file, or from all *.alloy and *.river files of a directory in the order of their names. */
#ifndef XAGENT_AGENT_CLI_CONFIG_CONFIG_FILE_H
#define XAGENT_AGENT_CLI_CONFIG_CONFIG_FILE_H

#include "agent/util/buf.h"
#include "river-config/river.h"

/* A configuration that lists every process of a large node by hand stays far below. */
#define CONFIG_FILE_MAX_BYTES ((size_t)16 << 20)
#define CONFIG_FILES_MAX 1000

struct config_texts {
	struct river_source *sources; /* names and texts are owned */
	size_t n;
};

void config_texts_fini(struct config_texts *t);
#define _cleanup_config_texts_ _cleanup_(config_texts_fini)

/* SHA-256 over all contents in their order, in hexadecimal. */
#define CONFIG_HASH_BYTES 65
void config_texts_hash(const struct config_texts *t, char ret_hex[static CONFIG_HASH_BYTES]);

/* Where a configuration is. Borrowed. */
struct config_source {
	const char *path; /* file or directory */
	const char
		*text; /* NULL: there; else this is all of it, and `path` only what it is called */
};

/* 0, or -errno with one line in `why`. */
int config_texts_read(const struct config_source *source, struct buf *why,
		      struct config_texts *ret_texts);

/* The names of the files alone. 0 or -errno. */
int config_names_read(const char *path, struct config_texts *ret_texts);

#endif

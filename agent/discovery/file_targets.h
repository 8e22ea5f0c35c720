/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of `discovery.file`: targets that files list, in the format of Prometheus' discovery by files.
 *
 * What a file listed last is kept while it cannot be read or is wrong; a file that is gone has no targets. Targets are in the order of
 * the files' paths, and of their lines. Each has the path of its file as __meta_filepath. Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_FILE_TARGETS_H
#define XAGENT_AGENT_DISCOVERY_FILE_TARGETS_H

#include <stdint.h>

#include "agent/target/target_list.h"
#include "agent/util/cleanup.h"

/* A file for each team or machine of a large site; those behind in the order of their paths are left out. */
#define FILE_TARGETS_MAX_FILES 1000
/* The largest list there may be (TARGET_LIST_MAX), at 160 bytes a target. */
#define FILE_TARGETS_MAX_BYTES ((size_t)16 << 20)

struct file_targets_file {
	char *path;
	struct target_list targets; /* the last good ones */
	char *problem;		    /* with line or group; NULL: none */
	bool problem_is_new;	    /* it was not there, or another one, before the last refresh */
	bool was_read;
	uint64_t content_hash; /* of what was read last, good or not */
	bool is_listed;	       /* in the refresh that is under way */
};

struct file_targets {
	struct file_targets_file *files; /* by path */
	size_t n_files;
	size_t n_listed; /* in the refresh that is under way, or the last one */
	size_t n_files_left_out;
	size_t n_targets;
};

void file_targets_init(struct file_targets *t);
void file_targets_fini(struct file_targets *t);

/* Whether the name of a file, or the pattern of several, can be one: ends in .json, .yml or .yaml, and has no '*' but in its last
 * segment. */
bool file_targets_path_ok(const char *pattern);
/* Whether it stands for what is in a directory (glob(7)). */
bool file_targets_is_pattern(const char *path);

/* Reads all files that these stand for. 0, or -ENOMEM: then the rest is as it was. */
int file_targets_refresh(struct file_targets *t, const char *const *patterns, size_t n,
			 bool *ret_changed);

/* All targets, a reference each; `ret_list` is empty before. 0 or -ENOMEM. */
int file_targets_get(const struct file_targets *t, struct target_list *ret_list);

#endif

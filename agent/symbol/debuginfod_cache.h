/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of fetched debug files: <build id>/debuginfo, as debuginfod's own client lays them out.
 *
 * A file appears under its name when it is whole and its build id is right. Inside of debuginfod only.
 */
#ifndef XAGENT_AGENT_SYMBOL_DEBUGINFOD_CACHE_H
#define XAGENT_AGENT_SYMBOL_DEBUGINFOD_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the directory and those above it. 0 or -errno. */
int debuginfod_cache_open(const char *path, int *ret_dir_fd);
/* The file of a build id, if there is one that is right. 0, DEBUGINFOD_NONE. Any thread. */
int debuginfod_cache_get(int dir_fd, const char *build_id, int *ret_fd);
/* A file without a name yet, to be written by one thread at a time. 0 or -errno. */
int debuginfod_cache_begin(int dir_fd, int *ret_fd);
/* Gives it its name. 0; DEBUGINFOD_NONE: it is not an ELF file of that build id; -errno. It is gone unless 0 is returned. */
int debuginfod_cache_commit(int dir_fd, int fd, const char *build_id);
/* Forgets it. */
void debuginfod_cache_abort(int dir_fd);
/* Removes the files that were used longest ago until all have no more than max_bytes. */
void debuginfod_cache_trim(int dir_fd, uint64_t max_bytes);

/* Hex in lower case: nothing that leads out of the directory. */
bool debuginfod_is_build_id(const char *text);

#endif

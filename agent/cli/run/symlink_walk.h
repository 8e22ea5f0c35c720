/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to a file as the kernel goes it: every name that is looked up in every directory, through all symbolic links.
 *
 *	/etc/x/config.alloy → ..data/config.alloy, ..data → ..2026	("/", etc) (/etc, x) (/etc/x, config.alloy) (/etc/x, ..data) …
 *
 * Whatever makes the path lead elsewhere changes one of these names.
 */
#ifndef XAGENT_AGENT_CLI_RUN_SYMLINK_WALK_H
#define XAGENT_AGENT_CLI_RUN_SYMLINK_WALK_H

/* As many as the kernel follows (ELOOP). */
#define SYMLINK_WALK_MAX_LINKS 40

/* `dir` and `name` are borrowed for the call; `last`: the step ends at what the path names. */
typedef void (*path_step_fn)(const char *dir, const char *name, int last, void *data);

/* Steps as far as the path exists; the first name that does not is one of them. 0, -ENOENT, -ELOOP, -ENAMETOOLONG or another -errno. */
int symlink_walk(const char *path, path_step_fn fn, void *data);

#endif

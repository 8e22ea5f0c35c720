/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells when a file may be another one: written, replaced by a rename, or reached through symbolic links of which one changed (the
 * ConfigMaps of Kubernetes are replaced by one rename of a link).
 *
 * Every link and the file itself are watched in the directories that hold them, so what comes back after it was away is seen too.
 * What inotify cannot see, such as other hosts' writes to a network file system, is left to who reads again from time to time.
 */
#ifndef XAGENT_AGENT_COMPONENT_FILE_PATH_WATCH_H
#define XAGENT_AGENT_COMPONENT_FILE_PATH_WATCH_H

#include "agent/util/cleanup.h"
#include "agent/util/loop.h"

struct path_watch;

/* `changed` is called from the loop, a moment after the first of a burst of changes. 0 or -errno (the host has a limit of watchers). */
int path_watch_new(struct loop *loop, const char *path, void (*changed)(void *data), void *data,
		   struct path_watch **ret_watch);
/* From within `changed` too. NULL-safe. */
void path_watch_free(struct path_watch *w);
DEFINE_CLEANUP(struct path_watch *, path_watch_free);

#endif

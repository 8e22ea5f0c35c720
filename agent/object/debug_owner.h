/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a separate debug file may tell of an object: only where nobody could have written it who could not have written the object itself.
 *
 * What a debug file says holds for everybody who maps the object, and is looked for below the root of whoever was sampled first. A user
 * with a mount namespace of their own can put any file at /usr/lib/debug there, with the C library's build id in it.
 */
#ifndef XAGENT_AGENT_OBJECT_DEBUG_OWNER_H
#define XAGENT_AGENT_OBJECT_DEBUG_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>

/* It is root's, or the object's owner's; whoever else may write it may write the object, too. Pure. */
bool debug_owner_may_tell(const struct stat *object, const struct stat *debug);

/* The same for two descriptors. A FUSE server says what it likes of its files, so what is on one tells of its own files only. Where the
 * object is no file (-1), anything may. */
bool debug_owner_may_tell_fd(int object_fd, int debug_fd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Tells when the last of some processes has ended. Loop thread. */
#ifndef XAGENT_AGENT_CLI_PROFILE_WATCH_H
#define XAGENT_AGENT_CLI_PROFILE_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"
#include "agent/util/loop.h"

struct watch;

/* `on_end` is called once, from the loop; then or later the watch may be freed. `pids` are borrowed. 0 or -errno. */
int watch_new(struct loop *loop, const uint32_t *pids, size_t n, void (*on_end)(void *data),
	      void *data, struct watch **ret_watch);
void watch_free(struct watch *w);
DEFINE_CLEANUP(struct watch *, watch_free);

#endif

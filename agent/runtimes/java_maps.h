/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel half is told of the threads of JVMs (bpf/runtimes/hotspot_thread.h). */
#ifndef XAGENT_AGENT_RUNTIMES_JAVA_MAPS_H
#define XAGENT_AGENT_RUNTIMES_JAVA_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/runtimes/hotspot_thread.h"

/* BPF maps, borrowed. */
struct java_maps {
	int processes_fd, threads_fd;
};

/* False: there is no room. */
bool java_maps_put(const struct java_maps *m, uint32_t pid, const struct hotspot_threads *threads);
/* Of the process that was put last under this pid. What finds no room is asked for again. */
void java_maps_put_thread(const struct java_maps *m, uint32_t pid, uint32_t own_tid,
			  const struct hotspot_thread *thread);
/* Its threads are not known any more. */
void java_maps_drop(const struct java_maps *m, uint32_t pid);

#endif

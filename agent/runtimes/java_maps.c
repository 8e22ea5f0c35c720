/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel half is told of the threads of JVMs. Both maps give up what was used longest ago, so nothing has to be taken out. */
#include "agent/runtimes/java_maps.h"

#include <bpf/bpf.h>

bool java_maps_put(const struct java_maps *m, uint32_t pid, const struct hotspot_threads *threads)
{
	return bpf_map_update_elem(m->processes_fd, &pid, threads, BPF_ANY) == 0;
}

void java_maps_put_thread(const struct java_maps *m, uint32_t pid, uint32_t own_tid,
			  const struct hotspot_thread *thread)
{
	uint64_t key = hotspot_thread_key(pid, own_tid);

	(void)bpf_map_update_elem(m->threads_fd, &key, thread, BPF_ANY);
}

void java_maps_drop(const struct java_maps *m, uint32_t pid)
{
	(void)bpf_map_delete_elem(m->processes_fd, &pid);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as /proc/PID/cgroup. */
#include <assert.h>
#include <string.h>

#include "agent/process/cgroup.h"

static void check_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	assert(n < size && str_is_utf8((struct str){ text, n }));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct cgroup_facts f;
	struct buf path = BUF_INIT(65536);

	cgroup_parse(text, &f);
	check_text(f.container_id, sizeof(f.container_id));
	check_text(f.runtime, sizeof(f.runtime));
	check_text(f.unit, sizeof(f.unit));
	check_text(f.user_unit, sizeof(f.user_unit));
	check_text(f.slice, sizeof(f.slice));
	check_text(f.pod_uid, sizeof(f.pod_uid));
	check_text(f.machine, sizeof(f.machine));
	check_text(f.alloc_id, sizeof(f.alloc_id));
	check_text(f.task, sizeof(f.task));
	/* 64 hex digits, or 32, a dash and a number. */
	assert(strlen(f.container_id) == 0 || strlen(f.container_id) == 64 ||
	       f.container_id[32] == '-');
	assert(strlen(f.pod_uid) == 0 || strlen(f.pod_uid) == 32 || strlen(f.pod_uid) == 36);
	assert(strlen(f.alloc_id) == 0 || strlen(f.alloc_id) == 36);
	/* A task is of an allocation; a build's step, a container, a machine's or a task's unit is the runtime's. */
	assert(!f.task[0] || f.alloc_id[0]);
	assert(!f.container_id[0] || !f.unit[0] || strcmp(f.runtime, "podman") == 0);
	cgroup_path(text, &path);
	buf_fini(&path);
	return 0;
}

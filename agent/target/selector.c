/* SPDX-License-Identifier: Apache-2.0 */
/* Which label of a target selects its processes. */
#include "agent/target/selector.h"

#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Hex digits of a whole id (SHA-256). */
#define CONTAINER_ID_DIGITS 64

static const char *cut_scheme(const char *id)
{
	static const char *const schemes[] = { "docker://", "containerd://", "cri-o://",
					       "podman://" };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (strncmp(id, schemes[i], strlen(schemes[i])) == 0)
			return id + strlen(schemes[i]);
	return "";
}

static bool is_short_id(const char *id)
{
	size_t n = strspn(id, "0123456789abcdefABCDEF");

	return id[n] == '\0' && n < CONTAINER_ID_DIGITS;
}

const char *selector_container_id(const struct labels *l)
{
	const char *id = labels_get(l, "__container_id__");
	const char *pod = labels_get(l, "__meta_kubernetes_pod_container_id");

	if (!id && pod)
		id = cut_scheme(pod);
	if (!id)
		id = labels_get(l, "__meta_docker_container_id");
	if (!id)
		id = labels_get(l, "__meta_dockerswarm_task_container_id");
	return id && !is_short_id(id) ? id : NULL;
}

/* False when the target has no pid that can be used. */
static bool select_pid(const struct labels *l, struct selector *s)
{
	struct str pid = str_from(labels_get(l, "__process_pid__"));
	const char *start = labels_get(l, SELECTOR_START_LABEL);
	uint64_t value;

	if (str_parse_u64(pid, 10, UINT32_MAX, &value) < 0 || value == 0)
		return false;
	s->have_start = start;
	if (start && str_parse_u64(str_from(start), 10, UINT64_MAX, &s->start_ns) < 0)
		return false;
	s->pid = (uint32_t)value;
	s->kind = SELECTOR_PID;
	return true;
}

void selector_from_labels(const struct labels *l, struct selector *ret_selector)
{
	struct selector by_pid = { 0 };

	if (select_pid(l, &by_pid)) {
		*ret_selector = by_pid;
		return;
	}
	const char *id = selector_container_id(l);
	*ret_selector = (struct selector){ .kind = id ? SELECTOR_CONTAINER : SELECTOR_NONE,
					   .container_id = id };
}

bool selector_takes_start(const struct selector *s, uint64_t start_ns)
{
	uint64_t apart = MAX_OF(s->start_ns, start_ns) - MIN_OF(s->start_ns, start_ns);

	return !s->have_start || apart <= SELECTOR_START_SLACK_NS;
}

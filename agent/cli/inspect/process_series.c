/* SPDX-License-Identifier: Apache-2.0 */
/* Which series a process is in where no configuration says otherwise. */
#include "agent/cli/inspect/process_series.h"

#include <limits.h>
#include <unistd.h>

#include "agent/target/target.h"
#include "agent/util/clock.h"

static int find_labels(struct process_table *processes, struct process *p,
		       struct telemetry *telemetry, struct process_series *s)
{
	_cleanup_(target_set_freep) struct target_set *set = NULL;
	char host[HOST_NAME_MAX + 1];
	int r;

	if (gethostname(host, sizeof(host)) < 0)
		host[0] = '\0';
	r = target_set_new(&(struct target_set_options){ .host = host,
							 .metadata = s->metadata,
							 .script_names = true,
							 .telemetry = telemetry },
			   &set);
	return r < 0 ? r : target_set_match(set, processes, p, &s->labels);
}

int process_series_find(struct process_table *processes, struct process *p,
			struct telemetry *telemetry, struct process_series *ret_series)
{
	const struct process_identity *id = process_identity(processes, p);
	struct service_name_facts facts = { .identity = id, .scripts = true };
	int r;

	*ret_series = (struct process_series){ 0 };
	r = container_metadata_new("", &ret_series->metadata);
	if (r < 0)
		return r;
	r = find_labels(processes, p, telemetry, ret_series);
	facts.container =
		container_metadata_find(ret_series->metadata, &id->cgroup, p->pid, clock_mono_ns());
	ret_series->container = facts.container;
	process_place_find(id, facts.container, &ret_series->place);
	service_name_from_process(&facts, &ret_series->name);
	return r < 0 ? r : 0;
}

void process_series_fini(struct process_series *s)
{
	labels_unref(s->labels);
	container_metadata_free(s->metadata);
	*s = (struct process_series){ 0 };
}

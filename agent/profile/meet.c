/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are known before they are sampled. A run with a single look at waits that go on samples those that sleep all the time at its end alone, when
 * it is too late to find out which runtime they have. So whom that look may find is met at the begin, as many as it may take.
 */
#include <dirent.h>
#include <stdlib.h>

#include "agent/profile/session_private.h"
#include "agent/util/str.h"

/* As many as a look has samples. */
#define MEET_MAX 512
/* Each takes reads of some files: the ring is to be read meanwhile. */
#define MEET_IN_ROUND 16

/* What waits in the command of a run is looked at when it is over. */
static bool is_wanted(const struct session_options *o)
{
	return o->interval_ns == 0 && o->sampler.off_cpu_hz && o->sampler.cgroup_fd < 0;
}

static void add(struct session_meeting *m, uint32_t pid)
{
	if (m->n < MEET_MAX)
		m->pids[m->n++] = pid;
}

static void add_all(struct session_meeting *m)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;

	while (proc && m->n < MEET_MAX && (entry = readdir(proc)))
		if (str_parse_u64(str_from(entry->d_name), 10, UINT32_MAX, &pid) == 0)
			add(m, (uint32_t)pid);
	if (proc)
		(void)closedir(proc);
}

void session_meet_begin(struct session *s)
{
	const struct sampler_options *o = &s->options.sampler;

	if (!is_wanted(&s->options))
		return;
	s->meeting.pids = calloc(MEET_MAX, sizeof(*s->meeting.pids));
	if (!s->meeting.pids)
		return;
	for (size_t i = 0; i < o->n_pids; i++)
		add(&s->meeting, o->pids[i]);
	if (o->n_pids == 0 && o->n_tids == 0)
		add_all(&s->meeting);
}

void session_meet_some(struct session *s)
{
	struct session_meeting *m = &s->meeting;

	for (int i = 0; i < MEET_IN_ROUND && m->next < m->n; i++)
		session_meet(s, m->pids[m->next++]);
}

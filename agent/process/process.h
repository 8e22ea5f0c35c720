/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes: their identity and their executable mappings.
 *
 * The table is fed by events (side-band, in time order) and by samples (process_table_get). Nothing
 * is read from /proc for a process before it is sampled. A process is keyed by (pid, start time):
 * an exit, or a fork that reuses the pid, ends it. An ended process is no longer in the table, and
 * is freed when the last reference to it is dropped.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_PROCESS_PROCESS_H
#define XAGENT_AGENT_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/cgroup.h"
#include "agent/process/environ.h"
#include "agent/process/event.h"
#include "agent/process/mapping.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

/* Who a process is, as far as /proc, its exec event and its parent tell. Strings are never NULL (""
 * when unknown), valid UTF-8. */
struct process_identity {
	char *exe;	   /* path of the executable as the process sees it, without " (deleted)" */
	char *comm;	   /* of the leader */
	char *cmdline;	   /* arguments joined by blanks */
	char *script;	   /* what an interpreter runs: "app.py" */
	char *cwd;	   /* process_identity_whole() only */
	char *cgroup_path; /* of the line that tells most; v1: all lines' paths joined by '|' */
	struct environ_facts env;   /* of what its environment said when it began */
	struct cgroup_facts cgroup; /* container id, systemd unit … */
	uint32_t uid;		    /* real; process_identity_whole() only */
	uint32_t euid;		    /* as whom it makes files */
	bool whole;		    /* cwd and uid were asked for */
	bool kernel_thread;
	bool complete; /* everything was read from /proc while the process lived */
};

struct process {
	uint32_t pid;
	/* Who forked it where that was seen, else its parent in /proc; 0: not known. */
	uint32_t parent_pid;
	/* CLOCK_MONOTONIC: birth by fork event, or start time of /proc/PID/stat; where only its
	 * exec was seen, the time of that. */
	uint64_t start_ns;
	bool exited;
	uint64_t exit_ns;

	/* As of the last event or sample that was handled. Owned reference; NULL until known. */
	struct mappings *mappings;
	uint32_t generation; /* +1 with each change of `mappings`; never 0 once they are known */
	/* What /proc has shown since: for whom they are in doubt it may be right already. They become `mappings` at the first event or sample
	 * from ahead_ns on. Owned reference; NULL: none. */
	struct mappings *mappings_ahead;

	struct process_identity identity; /* valid once process_identity() was called */
	bool identity_loaded;
	/* +1 with each exec: what was decided by identity is to be decided again. */
	uint32_t exec_count;
	/* Of the unified hierarchy, as the last sample told; 0: not known yet. */
	uint64_t cgroup_id;
	/* The kernel's count of execs, likewise: whose image `mappings` are, if no exec came since. */
	uint32_t exec_id;
	/* CLOCK_MONOTONIC: when code was last mapped in place of other code of this image; 0: never. */
	uint64_t replaced_ns;

	void *user; /* the owner of the table's: see process_table_options.on_* */

	/* private to process*.c */
	unsigned int n_refs;
	struct hash_node node;
	struct list lru;
	/* Owned; NULL: none. Anonymous memory that may hold a file's text; and of mappings_ahead. */
	struct remapped_texts *remapped_texts;
	struct remapped_texts *claims_ahead;
	/* Comparisons of them in the second that began then. */
	uint64_t compared_since_ns;
	unsigned int n_compared;
	/* Moves to another control group in the second that began then. */
	uint64_t moved_since_ns;
	unsigned int n_moves;
	uint64_t
		leader_told_ns; /* when a sample of its leader told cgroup_id; 0: it was another thread's */
	/* Owned reference; NULL when it was never in the table, or is not needed any more. */
	struct process *parent;
	/* Owned reference: the first file mapped after the exec that was seen. */
	struct mapped_file *exe_file;
	uint64_t start_ticks;  /* as /proc/PID/stat says; 0: not read */
	uint64_t proc_read_ns; /* /proc showed it alive then; 0: never */
	/* Before `mappings` were read: what happened earlier is in them already; and mappings_ahead. */
	uint64_t maps_read_ns;
	uint64_t ahead_ns;
	uint64_t exec_ns; /* of its last exec that was seen; 0: none */
	/* The table's numbers when its mappings were last known to be right. */
	uint64_t trust;
	uint64_t losses;
	bool is_in_doubt; /* events of its mappings were left out, they could not be read just now, or its parent's are in doubt */
	uint64_t reread_after_ns; /* for want of events it is not read before */
	/* When its identity is read again, a part of which could not be read just now; 0: need not be. And how long that was. */
	uint64_t identity_again_ns;
	uint64_t identity_wait_ns;
	uint64_t opens_after_ns; /* it opens no files before: no call may be made for it */
	/* Bytes of mappings that were copied to change them, in the second that began then. */
	uint64_t copied_since_ns;
	uint64_t copied_bytes;
	bool fork_seen;
	bool exe_wanted; /* the next file that is mapped is its executable */
	bool exec_missed; /* events were lost since the last exec that was seen: there may have been another one */
	bool maps_tried; /* its maps were read, or that failed; not tried again but for doubt or distrust */
	char comm_hint[64]; /* of its exec event, or of its sample */
};

/* Called by process_table_apply() and _get(), on_exit also by _free(); all may be NULL. They must
 * not call into the table, but for references and process_table_find(). */
struct process_table_hooks {
	/* Its identity is unloaded already. */
	void (*on_exec)(struct process *p, void *data);
	/* p->mappings and p->generation are the new ones. */
	void (*on_mappings)(struct process *p, void *data);
	/* Last call for p; drop p->user. Also when the table forgets it, or is freed: then
	 * p->exited is false. */
	void (*on_exit)(struct process *p, void *data);
	void *data;
};

struct cgroup_tree;

struct process_table_options {
	/* "/proc" when NULL; for tests and for a host's /proc mounted elsewhere. */
	const char *proc_root;
	/* Who processes are is all that is wanted: what they have mapped is not read. */
	bool no_mappings;
	/* 0: 32768, at least 16; beyond it the least recently sampled is forgotten and counted. */
	size_t max_processes;
	struct telemetry *telemetry; /* borrowed, required */
	/* Borrowed: for control groups that /proc/PID/cgroup does not show; NULL: not asked. */
	struct cgroup_tree *cgroups;
	struct process_table_hooks hooks;
};

struct process_table;

int process_table_new(const struct process_table_options *o, struct process_table **ret_table);
void process_table_free(struct process_table *t);
DEFINE_CLEANUP(struct process_table *, process_table_free);

/* One event, in time order. Lost events are counted by who reports them, here they only raise
 * distrust. */
void process_table_apply(struct process_table *t, const struct process_event *ev);

/* A process that is known, or NULL. Borrowed until the next call of apply or get. */
struct process *process_table_find(struct process_table *t, uint32_t pid);

/* The process for a sample of time_ns: known, or made now from /proc (mappings read). Samples and events are to come in the order of time;
 * what /proc shows of a known one holds from the time on when it was read. When /proc/PID is gone
 * too, a process that inherits its parent's mappings and identity where the fork was seen, else one
 * with neither. Anonymous executable memory in place of a file's text is compared with the file
 * here; a copy is a mapping of the file from then on. NULL only without memory. `comm` (may be
 * NULL) is used when nothing better is known. Borrowed like the above. */
struct process *process_table_get_at(struct process_table *t, uint32_t pid, const char *comm,
				     uint64_t time_ns);
/* … as it is now. */
struct process *process_table_get(struct process_table *t, uint32_t pid, const char *comm);

/* Loads identity on first use (after each exec again) and returns it. Never NULL. */
const struct process_identity *process_identity(struct process_table *t, struct process *p);
/* … with cwd and uid, which cost more than they are needed: from the first call on they are read of each process. */
const struct process_identity *process_identity_whole(struct process_table *t, struct process *p);

/*
 * The control group that a sample of p was taken in. When it was moved since the last one, or its identity was loaded where its control
 * group could not be seen, that is read again, and exec_count is raised if it is another one. Threads may be in different ones: it is asked
 * a few times a second at most, and the leader's counts. leader_ns: when the sample was taken if it was the leader's, else 0.
 */
void process_set_cgroup(struct process_table *t, struct process *p, uint64_t cgroup_id,
			uint64_t leader_ns);

/* How long it holds that a file cannot be opened, unless another process maps it: mounts come back, permissions change. */
#define PROCESS_OPEN_RETRY_NS (300 * NS_PER_S)
/* … and that opening it was given up (-ETIMEDOUT): whoever tries it meanwhile may lose a call, too, and two exclude a user (reader.h). */
#define PROCESS_OPEN_LOST_NS (30 * NS_PER_S)
/* … by the process for which it was given up: for that one no call is made before the lost one has returned (reader.h). */
#define PROCESS_OPEN_AGAIN_NS (200 * NS_PER_MS)

/* Opens the file as `p` (or failing that its parent, or the host) sees it, by /proc/PID/map_files
 * or /proc/PID/root; the descriptor's device and inode are checked against the key. 0 when f->fd is
 * open now, else -errno (also remembered in f->open_error so that a file is not tried at every
 * sample; tried again after PROCESS_OPEN_RETRY_NS, and for each new process that maps it). -EHOSTDOWN and
 * -EAGAIN are of `p` (reader.h): not remembered in the file, but p tries no file for a second. Opens
 * regular files only, never blocks on FIFOs. */
int process_open_file(struct process_table *t, struct process *p, struct mapped_file *f);

struct process *process_ref(struct process *p);
void process_unref(struct process *p);

/* Whether the exec was seen by which the process runs what it ran at time_ns: then its identity and mappings are of that image. */
static inline bool process_image_is_seen(const struct process *p, uint64_t time_ns)
{
	return p->exec_ns && !p->exec_missed && time_ns > p->exec_ns;
}

/* Every live process that /proc lists, in ascending pid order (kernel threads included): for
 * discovery. 0 or -errno. */
int process_list_pids(const struct process_table *t, uint32_t **ret_pids, size_t *ret_n);

/* After lost events: every known process is read again before its next sample. */
void process_table_distrust(struct process_table *t);

size_t process_table_n(const struct process_table *t);

#endif

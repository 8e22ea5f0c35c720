/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the process table share with each other, and with nobody else. */
#ifndef XAGENT_AGENT_PROCESS_PROCESS_PRIVATE_H
#define XAGENT_AGENT_PROCESS_PROCESS_PRIVATE_H

#include "agent/process/file_table.h"
#include "agent/process/maps.h"
#include "agent/process/proc.h"
#include "agent/process/process.h"
#include "agent/process/remapped_text.h"
#include "agent/util/clock.h"
#include "agent/util/reader.h"

#define PROCESS_MAX_DEFAULT 32768
/* A process and the ancestors it is asked about must fit at once. */
#define PROCESS_MAX_LEAST 16
/* Ancestors looked at for what a process can no longer tell itself: shell, make, shell, compiler
 * driver, compiler. */
#define PROCESS_MAX_ANCESTORS 8
/* A process whose events were lost, or left out, is read anew so often, … */
#define PROCESS_REREAD_NS (250 * NS_PER_MS)
/* … and not before so many times as long as the last reading took: 2 % of the time. */
#define PROCESS_REREAD_SHARE 50
/* … and who could not be read just now is not tried before. */
#define PROCESS_PASSING_NS NS_PER_S
/* Who it is, twice as long each time, up to this. */
#define PROCESS_IDENTITY_MOST_NS (600 * NS_PER_S)
/* Of mappings of one process copied in a second to change them: 2 % of the time with thousands of mappings, which can then change 70 times, and
 * thousands of times with dozens. */
#define PROCESS_COPY_BYTES ((uint64_t)16 << 20)

/* It tells nothing of what was to be read: the call was given up, or we had too little of something. */
static inline bool process_error_passes(int r)
{
	return reader_is_passing(r) || r == -EMFILE || r == -ENFILE || r == -ENOMEM;
}

struct process_table {
	char *proc_root; /* owned */
	size_t max_processes;
	bool no_mappings;      /* nobody asks for them */
	bool whole_identities; /* somebody has asked for one */
	struct telemetry *telemetry;
	struct cgroup_tree *cgroups; /* borrowed; NULL: none */
	bool cgroups_shown;	     /* in the initial cgroup namespace no path is hidden */
	struct process_table_hooks hooks;
	struct hash_table by_pid;
	struct list lru; /* the least recently sampled first */
	struct file_table *files;
	struct list jit_files; /* all that are held by somebody */
	size_t n_jit_files;
	uint64_t trust;	 /* raised by each distrust */
	uint64_t losses; /* raised by each loss of events */
};

/* process.c */
struct process *process_add(struct process_table *t, uint32_t pid, uint64_t start_ns);
/* Reads a known process again. Returns it, or NULL when its pid means another process by now. */
struct process *process_reread(struct process_table *t, struct process *p);
/* Makes it the last one to be forgotten: whoever asks for ancestors makes entries meanwhile. */
void process_touch(struct process_table *t, struct process *p);
void process_end(struct process_table *t, struct process *p, uint64_t time_ns);
/* Who forked p, known or read now; NULL when the fork was not seen or its pid means another one.
 * Borrowed from p. */
struct process *process_parent(struct process_table *t, struct process *p);
/* Whether the directory opened by its pid is this process and not a later one; then its exact start
 * is kept. */
bool process_confirm(struct process *p, const struct proc *proc);

/* process_maps.c */
/* Consumes m. */
void process_set_mappings(struct process_table *t, struct process *p, struct mappings *m);
/* In order of time: what is in doubt of the parent is so of the child. */
void process_inherit_mappings(struct process_table *t, struct process *child,
			      struct process *parent);
void process_apply_exec(struct process_table *t, struct process *p, const struct process_event *ev);
void process_apply_mmap(struct process_table *t, struct process *p, const struct process_event *ev);
/* When /proc/PID is gone: the mappings of an ancestor whose image it still runs. */
void process_borrow_mappings(struct process_table *t, struct process *p);
/* Memory whose file finds no place in the file table is as good as anonymous. mapped_ns as in file_facts. */
void process_mapping_from(struct process_table *t, const struct maps_entry *e,
			  uint64_t inode_generation, uint64_t mapped_ns,
			  struct mapping *ret_mapping);
/* Claims what `set` holds where m is now. *claims is made where it is NULL. */
void process_claim_text(struct remapped_texts **claims, const struct mappings *set,
			const struct mapping *m);
/* Consumes claims. */
void process_set_claims(struct process *p, struct remapped_texts *claims);

/* process_read.c */
/* Reads /proc/PID/maps: into p->mappings_ahead, or where nothing is known of p, into its mappings. 0 or -errno. */
int process_read_maps(struct process_table *t, struct process *p, const struct proc *proc);
/* Before an event or a sample of time_ns is handled. */
void process_catch_up(struct process_table *t, struct process *p, uint64_t time_ns);
/* What was read will not be needed. */
void process_drop_ahead(struct process *p);

/* process_flood.c */
void process_apply_flood(struct process_table *t, const struct process_event *ev);
/* Whether its mappings may be changed once more, at the time of an event; else they are old from then on. */
bool process_may_copy(struct process_table *t, struct process *p, uint64_t time_ns);
/* What is known of its mappings may be old. */
bool process_is_in_doubt(const struct process_table *t, const struct process *p);
/* Its mappings are to be read again, and may be by now. */
bool process_is_outdated(const struct process_table *t, const struct process *p);
/* It was read from begin_ns on until now. */
void process_note_reread(struct process_table *t, struct process *p, uint64_t begin_ns);
/* Its mappings could not be read for such an error: they are in doubt, and read again after a while. */
void process_put_off(struct process *p);

/* process_text.c */
struct mapping_edit;
/* Compares what `claims` say of p with the files, as far as it is due and not too much for one second.
 * What is a copy is put into `edit` and claimed no more. True when there was any. */
bool process_settle_claims(struct process_table *t, struct process *p,
			   struct remapped_texts *claims, const struct proc *proc,
			   struct mapping_edit *edit);
/* … of a process that is sampled, into its mappings. */
void process_check_text(struct process_table *t, struct process *p);

/* process_file.c */
/* process_open_file() where a mapping of the file is known that is not executable. */
int process_open_beside(struct process_table *t, struct process *p, const struct proc *proc,
			const struct mapping *beside);

/* jit_files.c: those that are still held live on without the table. */
void process_release_jit_files(struct process_table *t);

/* process_cgroup.c */
bool process_cgroups_are_shown(const char *proc_root);
/* Which control group it is in: by its number where that has just come and is known to say the same; by /proc/PID/cgroup; where that is hidden, or proc is NULL (it is gone), by its number. Appends the path.
 * False when neither tells; *ret_facts is untouched then. */
bool process_read_place(const struct process_table *t, const struct process *p,
			const struct proc *proc, struct cgroup_facts *ret_facts, struct buf *path);
/* The path of a control group, or of several, that a cgroup namespace hides. */
bool process_place_is_hidden(const struct cgroup_facts *facts, const char *path);

/* process_script.c */
/* What the interpreter `exe` runs by these arguments; for whom a library started to help its program, what that one runs. Appends to
 * `out`, nothing when there is no script. */
void process_find_script(const char *proc_root, const struct proc *proc, const char *exe,
			 struct str arguments, struct buf *out);

/* process_identity.c */
/* Reads its control group again. True when it is another one. */
bool process_refresh_place(struct process_table *t, struct process *p);
void process_identity_init(struct process_identity *id);
void process_identity_fini(struct process_identity *id);
void process_unload_identity(struct process *p);
/* Unloads an identity that could not be read whole for calls that were lost, when it is time to try again. */
void process_retry_identity(struct process_table *t, struct process *p);
/* p->exe_file has come: who was sampled before it, in the middle of the exec, is asked again who it is. */
void process_learn_exe(struct process *p);
/* True when the identity is loaded and its executable is another one by now. */
bool process_exe_changed(const struct process *p, const struct proc *proc);

#endif

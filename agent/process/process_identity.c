/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: who a process is.
 *
 * /proc/PID is asked first. What it does not tell any more (the process is gone) comes from what
 * events said (executable, name) and from the parent (control group, user, and without an exec
 * everything), which works for the short-lived children that build jobs and shells are made of.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/process/process_private.h"
#include "agent/process/script.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* U+FFFD is three bytes. */
#define UTF8_WORST 3

/* Never freed: what a string is while nothing is known, or without memory. */
static char identity_unknown[1] = "";

static void text_free(char **text)
{
	if (*text != identity_unknown)
		free(*text);
	*text = identity_unknown;
}

static void text_set(char **text, struct str s)
{
	char *copy = s.n ? malloc(s.n * UTF8_WORST + 1) : NULL;

	text_free(text);
	if (!copy)
		return;
	str_copy_utf8(copy, s.n * UTF8_WORST + 1, s);
	*text = copy;
}

static void text_fill(char **text, const char *from)
{
	if (!(*text)[0])
		text_set(text, str_from(from));
}

void process_identity_init(struct process_identity *id)
{
	*id = (struct process_identity){ .exe = identity_unknown,
					 .comm = identity_unknown,
					 .cmdline = identity_unknown,
					 .script = identity_unknown,
					 .cwd = identity_unknown,
					 .cgroup_path = identity_unknown,
#define ENVIRON_INIT(member) .env.member = identity_unknown,
					 ENVIRON_FACTS(ENVIRON_INIT)
#undef ENVIRON_INIT
	};
}

/* What an exec replaces. */
static void free_image(struct process_identity *id)
{
	text_free(&id->exe);
	text_free(&id->comm);
	text_free(&id->cmdline);
	text_free(&id->script);
#define ENVIRON_FREE(member) text_free(&id->env.member);
	ENVIRON_FACTS(ENVIRON_FREE)
#undef ENVIRON_FREE
}

void process_identity_fini(struct process_identity *id)
{
	free_image(id);
	text_free(&id->cwd);
	text_free(&id->cgroup_path);
}

void process_unload_identity(struct process *p)
{
	process_identity_fini(&p->identity);
	process_identity_init(&p->identity);
	p->identity_loaded = false;
}

/* Arguments end with NULs; a program that writes its title there leaves a row of them. */
static void set_arguments(const struct process_table *t, const struct proc *proc,
			  struct process_identity *id, struct buf *b)
{
	_cleanup_buf_ struct buf script = BUF_INIT(SCRIPT_NAME_MAX);

	if (b->len == 0)
		return;
	process_find_script(t->proc_root, proc, id->exe, (struct str){ b->data, b->len }, &script);
	text_set(&id->script, (struct str){ buf_str(&script), script.len });
	b->len = b->len < PROC_CMDLINE_MAX ? b->len : PROC_CMDLINE_MAX;
	while (b->len > 0 && b->data[b->len - 1] == '\0')
		b->len--;
	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] == '\0')
			b->data[i] = ' ';
	text_set(&id->cmdline, (struct str){ b->data, b->len });
}

/* Others' secrets are in there: all of it in one place, which is emptied. */
static void set_environment(struct process_identity *id, struct buf *b)
{
	struct environ_texts texts;

	if (b->len == 0)
		return;
	environ_parse((struct str){ b->data, b->len }, &texts);
	explicit_bzero(b->data, b->len);
#define ENVIRON_SET(member) text_set(&id->env.member, str_from(texts.member));
	ENVIRON_FACTS(ENVIRON_SET)
#undef ENVIRON_SET
}

/* 0 or -errno. */
static int read_arguments(const struct process_table *t, const struct proc *proc,
			  struct process_identity *id)
{
	_cleanup_buf_ struct buf arguments = BUF_INIT(PROC_ARGUMENTS_MAX);
	_cleanup_buf_ struct buf environment = BUF_INIT(PROC_ENVIRON_MAX);

	int r = proc_read_arguments(proc, &arguments, &environment);
	set_arguments(t, proc, id, &arguments);
	set_environment(id, &environment);
	return r;
}

/* Each time that it comes to nothing costs the owner's decision about it as well. */
static void put_off(struct process *p)
{
	uint64_t wait_ns = p->identity_wait_ns ? 2 * p->identity_wait_ns : PROCESS_PASSING_NS;

	p->identity_wait_ns = MIN_OF(wait_ns, PROCESS_IDENTITY_MOST_NS);
	p->identity_again_ns = clock_mono_ns() + p->identity_wait_ns;
}

/* proc may be NULL: it is gone. */
static bool read_cgroup(const struct process_table *t, const struct process *p,
			const struct proc *proc, struct process_identity *id)
{
	_cleanup_buf_ struct buf path = BUF_INIT(PROC_CGROUP_MAX);

	if (!process_read_place(t, p, proc, &id->cgroup, &path))
		return false;
	text_set(&id->cgroup_path, (struct str){ buf_str(&path), path.len });
	return true;
}

static bool read_uid(const struct proc *proc, uint32_t *ret_uid)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PROC_STATUS_MAX);

	return proc_read_file(proc, "status", &b) == 0 &&
	       proc_status_uid((struct str){ buf_str(&b), b.len }, ret_uid) == 0;
}

/* What only a whole identity has. */
static bool read_owner(const struct proc *proc, struct process_identity *id)
{
	_cleanup_buf_ struct buf cwd = BUF_INIT(MAPPING_PATH_MAX);

	id->whole = true;
	if (proc_read_link(proc, "cwd", &cwd) == 0)
		text_set(&id->cwd, (struct str){ buf_str(&cwd), cwd.len });
	return read_uid(proc, &id->uid);
}

/* True when the process lived through all of it. */
static bool load_from_proc(const struct process_table *t, struct process *p,
			   const struct proc *proc, struct process_identity *id,
			   bool *ret_have_cgroup)
{
	id->kernel_thread = proc->kernel_thread;
	text_set(&id->comm, str_from(proc->comm));
	id->euid = proc->euid;
	if (proc->exe)
		text_set(&id->exe, str_from(proc->exe));
	bool have_exe = proc->exe || proc->kernel_thread;
	bool is_whole = !t->whole_identities || read_owner(proc, id);
	bool is_passing = process_error_passes(read_arguments(t, proc, id));
	if (is_passing)
		put_off(p);
	*ret_have_cgroup = read_cgroup(t, p, proc, id);
	return have_exe && is_whole && *ret_have_cgroup && !is_passing;
}

bool process_exe_changed(const struct process *p, const struct proc *proc)
{
	char *exe = identity_unknown;
	bool changed;

	if (!p->identity_loaded || !proc->exe)
		return false;
	text_set(&exe, str_from(proc->exe));
	changed = strcmp(exe, p->identity.exe) != 0;
	text_free(&exe);
	return changed;
}

static void inherit_owner(struct process_identity *id, const struct process_identity *parent)
{
	id->whole = parent->whole;
	id->uid = parent->uid;
	text_fill(&id->cwd, parent->cwd);
}

static void inherit_place(struct process_identity *id, const struct process_identity *parent)
{
	if (!id->cgroup_path[0])
		id->cgroup = parent->cgroup;
	id->euid = parent->euid;
	text_fill(&id->cgroup_path, parent->cgroup_path);
	inherit_owner(id, parent);
}

static void inherit_image(struct process_identity *id, const struct process_identity *parent)
{
	text_fill(&id->exe, parent->exe);
	text_fill(&id->cmdline, parent->cmdline);
	text_fill(&id->comm, parent->comm);
	text_fill(&id->script, parent->script);
#define ENVIRON_FILL(member) text_fill(&id->env.member, parent->env.member);
	ENVIRON_FACTS(ENVIRON_FILL)
#undef ENVIRON_FILL
}

static void load_more(struct process_table *t, struct process *p, int depth);

static void load_from_parent(struct process_table *t, struct process *p, bool have_cgroup,
			     int depth)
{
	struct process *parent = depth < PROCESS_MAX_ANCESTORS ? process_parent(t, p) : NULL;

	if (!parent)
		return;
	load_more(t, parent, depth + 1);
	if (!have_cgroup)
		inherit_place(&p->identity, &parent->identity);
	if (!p->exec_ns && parent->exec_ns <= p->start_ns)
		inherit_image(&p->identity, &parent->identity);
}

/*
 * /proc is ahead: it may show what the process has become since the events that have come so far, or who has its pid since. The executable
 * tells. By its path, or its inode: one file has several paths, and one of a stack of file systems two numbers.
 */
static bool is_image_of_events(struct process *p, const struct proc *proc)
{
	const struct mapped_file *exe = p->exe_file;
	ino_t inode;

	if ((!p->exec_ns && !p->fork_seen) || p->exec_missed)
		return true;
	if (!exe)
		return !p->comm_hint[0] || strcmp(p->identity.comm, p->comm_hint) == 0;
	if (exe->path[0] && strcmp(p->identity.exe, exe->path) == 0)
		return true;
	int r = proc_exe_inode(proc, &inode);
	if (process_error_passes(r))
		put_off(p);
	return r == 0 && inode == exe->key.inode;
}

/* An exec while it was read: a part may be of either image. Who is gone by now has become nothing else. */
static bool has_become_another(const struct proc *proc)
{
	return proc_has_same_image(proc) == 0;
}

/* Where it runs and as whom stays over an exec; the rest is of another image. */
static void drop_image(struct process_identity *id)
{
	id->complete = false;
	free_image(id);
}

static void load(struct process_table *t, struct process *p, int depth)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;
	struct process_identity *id = &p->identity;
	bool have_cgroup = false;

	p->identity_loaded = true;
	p->identity_again_ns = 0;
	int r = p->exited ? -ESRCH : proc_open(t->proc_root, p->pid, &proc);
	if (process_error_passes(r))
		put_off(p);
	if (r == 0 && process_confirm(p, &proc)) {
		id->complete = load_from_proc(t, p, &proc, id, &have_cgroup);
		if (!is_image_of_events(p, &proc) || has_become_another(&proc))
			drop_image(id);
		if (!p->identity_again_ns)
			p->identity_wait_ns = 0;
	}
	if (!have_cgroup)
		(void)read_cgroup(t, p, NULL, id);
	if (!id->complete && p->exec_ns && p->exe_file)
		text_fill(&id->exe, p->exe_file->path);
	if (!id->complete && p->exec_ns)
		text_fill(&id->comm, p->comm_hint);
	if (!id->complete)
		load_from_parent(t, p, have_cgroup, depth);
	text_fill(&id->comm, p->comm_hint);
}

/* What nobody wanted when the rest was loaded. */
static void load_owner(struct process_table *t, struct process *p, int depth)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;
	struct process *parent;

	p->identity.whole = true;
	if (!p->exited && proc_open(t->proc_root, p->pid, &proc) == 0 &&
	    process_confirm(p, &proc) && read_owner(&proc, &p->identity))
		return;
	parent = depth < PROCESS_MAX_ANCESTORS ? process_parent(t, p) : NULL;
	if (!parent)
		return;
	load_more(t, parent, depth + 1);
	inherit_owner(&p->identity, &parent->identity);
}

static void load_more(struct process_table *t, struct process *p, int depth)
{
	if (!p->identity_loaded)
		load(t, p, depth);
	if (t->whole_identities && !p->identity.whole)
		load_owner(t, p, depth);
}

bool process_refresh_place(struct process_table *t, struct process *p)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;
	_cleanup_buf_ struct buf path = BUF_INIT(PROC_CGROUP_MAX);
	struct cgroup_facts facts;

	bool alive = !p->exited && proc_open(t->proc_root, p->pid, &proc) == 0 &&
		     process_confirm(p, &proc);
	if (!process_read_place(t, p, alive ? &proc : NULL, &facts, &path) ||
	    strcmp(buf_str(&path), p->identity.cgroup_path) == 0)
		return false;
	p->identity.cgroup = facts;
	text_set(&p->identity.cgroup_path, (struct str){ buf_str(&path), path.len });
	return true;
}

void process_learn_exe(struct process *p)
{
	if (!p->identity_loaded || p->identity.exe[0])
		return;
	process_unload_identity(p);
	p->exec_count++;
}

/* What is known is kept of who is gone. */
void process_retry_identity(struct process_table *t, struct process *p)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;

	if (!p->identity_loaded || !p->identity_again_ns || clock_mono_ns() < p->identity_again_ns)
		return;
	p->identity_again_ns = 0;
	if (p->exited || proc_open(t->proc_root, p->pid, &proc) < 0 || !process_confirm(p, &proc))
		return;
	process_unload_identity(p);
	p->exec_count++;
}

const struct process_identity *process_identity(struct process_table *t, struct process *p)
{
	process_touch(t, p);
	load_more(t, p, 0);
	return &p->identity;
}

const struct process_identity *process_identity_whole(struct process_table *t, struct process *p)
{
	t->whole_identities = true;
	return process_identity(t, p);
}

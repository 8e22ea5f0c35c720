/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: which control group a process is in.
 *
 * /proc/PID/cgroup tells it from where we stand. A process in a cgroup namespace of its own shows "/" only when we are in that namespace
 * too; one above ours shows "/..". The number that samples carry tells the same from the hierarchy's root, and also when the process is
 * gone.
 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/process/cgroup_tree.h"
#include "agent/process/process_private.h"
#include "agent/util/clock.h"

/* Threads of one process may be in different control groups (a virtual machine's), so that each sample looks like a move. A container's
 * start makes two or three. */
#define PLACE_MOVES_A_SECOND 4

/* How long a number tells where a process is, while no other one comes: samples are that old when they are read. */
#define PLACE_TOLD_NS NS_PER_S

/* PROC_CGROUP_INIT_INO of include/linux/proc_ns.h. */
#define INITIAL_CGROUP_NAMESPACE 0xeffffffbU

bool process_cgroups_are_shown(const char *proc_root)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/self/ns/cgroup", proc_root);

	return n < (int)sizeof(path) && stat(path, &st) == 0 &&
	       st.st_ino == INITIAL_CGROUP_NAMESPACE;
}

bool process_place_is_hidden(const struct cgroup_facts *facts, const char *path)
{
	return facts->private_namespace || str_starts_with(str_from(path), STR_LIT("/.."));
}

/* The number is the leader's, and of just now. One that is older, or another thread's, says nothing of where the process is. */
static bool is_told(const struct process *p)
{
	return p->leader_told_ns && clock_mono_ns() < p->leader_told_ns + PLACE_TOLD_NS;
}

/* One line, of the unified hierarchy: there is no other. */
static bool is_unified(struct str text)
{
	return str_starts_with(text, STR_LIT("0::")) &&
	       memchr(text.p, '\n', text.n) == text.p + text.n - 1;
}

static bool read_file(const struct process_table *t, const struct proc *proc,
		      struct cgroup_facts *ret_facts, struct buf *path, bool *ret_unified)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PROC_CGROUP_MAX);

	if (!proc || proc_read_file(proc, "cgroup", &b) < 0 || b.len == 0)
		return false;
	struct str text = { buf_str(&b), b.len };
	cgroup_parse(text, ret_facts);
	/* "/" is the root itself then. */
	ret_facts->private_namespace = ret_facts->private_namespace && !t->cgroups_shown;
	cgroup_path(text, path);
	*ret_unified = is_unified(text);
	return true;
}

/* As the line of the unified hierarchy would be from its root. */
static bool read_tree(const struct process_table *t, const struct process *p,
		      struct cgroup_facts *ret_facts, struct buf *path)
{
	_cleanup_buf_ struct buf line = BUF_INIT(PROC_CGROUP_MAX);

	if (!t->cgroups || p->cgroup_id == 0 || buf_append_str(&line, "0::") < 0 ||
	    cgroup_tree_path(t->cgroups, p->cgroup_id, &line) < 0)
		return false;
	struct str text = { buf_str(&line), line.len };
	cgroup_parse(text, ret_facts);
	ret_facts->private_namespace = false; /* "/" is the root itself */
	cgroup_path(text, path);
	return true;
}

/* Who comes next from there need not be asked, if the number says the same. */
static void compare(const struct process_table *t, const struct process *p, const struct buf *file)
{
	_cleanup_buf_ struct buf tree = BUF_INIT(PROC_CGROUP_MAX);
	struct cgroup_facts facts;

	if (is_told(p) && read_tree(t, p, &facts, &tree) &&
	    strcmp(buf_str(&tree), buf_str(file)) == 0)
		cgroup_tree_agree(t->cgroups, p->cgroup_id);
}

/* Beside hierarchies of version 1, which it has no number in, its place in the unified one may be the root and say nothing. */
static bool tells_less(const struct buf *tree, const struct buf *file)
{
	return strcmp(buf_str(tree), "/") == 0 && strchr(buf_str(file), '|');
}

bool process_read_place(const struct process_table *t, const struct process *p,
			const struct proc *proc, struct cgroup_facts *ret_facts, struct buf *path)
{
	_cleanup_buf_ struct buf from_root = BUF_INIT(PROC_CGROUP_MAX);
	struct cgroup_facts facts;
	bool unified = false;

	if (t->cgroups && is_told(p) && cgroup_tree_is_agreed(t->cgroups, p->cgroup_id) &&
	    read_tree(t, p, ret_facts, path))
		return true;
	bool have_file = read_file(t, proc, ret_facts, path, &unified);
	if (have_file && !process_place_is_hidden(ret_facts, buf_str(path))) {
		if (unified)
			compare(t, p, path);
		return true;
	}
	if (!read_tree(t, p, &facts, &from_root) || tells_less(&from_root, path))
		return have_file;
	*ret_facts = facts;
	buf_reset(path);
	(void)buf_append(path, from_root.data, from_root.len);
	return true;
}

static bool may_move(struct process *p)
{
	uint64_t now_ns = clock_mono_ns();

	if (now_ns - p->moved_since_ns >= NS_PER_S) {
		p->moved_since_ns = now_ns;
		p->n_moves = 0;
	}
	return p->n_moves++ < PLACE_MOVES_A_SECOND;
}

void process_set_cgroup(struct process_table *t, struct process *p, uint64_t cgroup_id,
			uint64_t leader_ns)
{
	const struct process_identity *id = &p->identity;
	bool first = p->cgroup_id == 0;

	if (cgroup_id && cgroup_id == p->cgroup_id && leader_ns)
		p->leader_told_ns = leader_ns;
	if (cgroup_id == 0 || cgroup_id == p->cgroup_id)
		return;
	bool stale = p->identity_loaded &&
		     (!first || process_place_is_hidden(&id->cgroup, id->cgroup_path));
	if (stale && !may_move(p))
		return;
	p->cgroup_id = cgroup_id;
	p->leader_told_ns = leader_ns;
	if (stale && process_refresh_place(t, p))
		p->exec_count++;
}

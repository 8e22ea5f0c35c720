/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent inspect process`: what is known of a process, and why its stacks will or will not be walked and named. */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/cli/inspect/inspect.h"
#include "agent/cli/inspect/inspect_each.h"
#include "agent/cli/inspect/process_text.h"
#include "agent/cli/threads/thread_state.h"
#include "agent/process/proc.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

/* MAPPINGS_MAX mappings with the longest paths. */
#define OUTPUT_MAX_BYTES ((size_t)32 << 20)
/* An entry of passwd(5): five texts that people typed, and a path. */
#define PASSWD_BYTES 4096

static const char help[] =
	"xagent inspect process: what is known of a process, and what its code is unwound and "
	"named by\n"
	"\n"
	"Usage:\n"
	"  xagent inspect process PID…\n"
	"\n"
	"Who it is: executable, command line, script, start, parent, user, what its environment "
	"says for\n"
	"OpenTelemetry, control group, container, pod, Compose service, systemd unit. What it is "
	"called in\n"
	"profiles without a configuration, by what (service_name_source), and the labels. Then "
	"each\n"
	"executable mapping:\n"
	"  ADDRESSES              in the process\n"
	"  OBJECT                 the file, [vdso] (the kernel's), [anon] (code made at run time)\n"
	"  BUILD ID               of the linker, or Go's; - where there is none\n"
	"  UNWOUND BY             .eh_frame, .debug_frame, Go tables (.gopclntab), code read "
	"(rules made\n"
	"                         from the instructions), and how many rows these are together; "
	"or\n"
	"                         frame pointers, and why nothing better\n"
	"  NAMED BY               .symtab, or .dynsym (exported functions only); none: functions "
	"are\n"
	"                         shown as file and address\n"
	"  Below a file with an interpreter: which, and whether its functions are shown.\n"
	"\n"
	"Flags:\n"
	"  -h, --help             this text\n"
	"\n"
	"Other users' processes tell little to whom is not root. Exit code: 0, or 1 when one of "
	"the "
	"processes\n"
	"is not there; the others are still shown.\n"
	"\n"
	"Example:\n"
	"  xagent inspect process $(pgrep -n node)\n";

static void find_user(uint32_t uid, char *ret_name, size_t n)
{
	char texts[PASSWD_BYTES];
	struct passwd entry, *found = NULL;

	ret_name[0] = '\0';
	if (getpwuid_r(uid, &entry, texts, sizeof(texts), &found) == 0 && found)
		str_copy_utf8(ret_name, n, str_from(found->pw_name));
}

static void find_date(uint64_t age_ns, char *ret_date, size_t n)
{
	time_t when = (time_t)((clock_real_ns() - age_ns) / NS_PER_S);
	struct tm tm;

	if (!localtime_r(&when, &tm) || strftime(ret_date, n, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		ret_date[0] = '\0';
}

static void put_identity(struct inspect_context *w, struct process *p, struct buf *out)
{
	char user[64], parent[PROC_COMM_MAX], started[64];
	uint64_t now_ns = clock_mono_ns();
	_cleanup_process_series_ struct process_series series = { 0 };
	int r = process_series_find(w->processes, p, w->telemetry, &series);
	struct process_text t = {
		.process = p,
		.identity = process_identity_whole(w->processes, p),
		.series = r < 0 ? NULL : &series,
		.user = user,
		.parent_name = parent,
		.started = started,
		.age_ns = now_ns > p->start_ns ? now_ns - p->start_ns : 0,
	};

	find_user(t.identity->uid, user, sizeof(user));
	thread_name(p->parent_pid, p->parent_pid, parent, sizeof(parent));
	find_date(t.age_ns, started, sizeof(started));
	process_text_identity(out, &t);
	if (t.series)
		process_text_series(out, t.series);
}

/* Of mapping i: it is the first of its file. */
static bool is_first_of_file(const struct mappings *m, uint32_t i)
{
	if (!m->items[i].file)
		return true;
	for (uint32_t k = 0; k < i; k++)
		if (m->items[k].file == m->items[i].file)
			return false;
	return true;
}

static uint32_t count_files(const struct mappings *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n; i++)
		n += m->items[i].file && !m->items[i].file->vdso && is_first_of_file(m, i);
	return n;
}

static void put_mappings(const struct mappings *m, struct buf *out)
{
	struct mapping_facts facts;

	process_text_mappings_head(out, m->n, count_files(m));
	for (uint32_t i = 0; i < m->n; i++) {
		bool is_first = is_first_of_file(m, i);

		if (is_first)
			mapping_facts_find(&m->items[i], &facts);
		process_text_mapping(out, &m->items[i], is_first ? &facts : NULL);
	}
}

/* Something of a live process could not be read: what, and what it takes. */
static void put_missing(const struct process *p, struct buf *out)
{
	bool no_exe = !p->identity.exe[0];

	(void)buf_printf(out, "\nNot known: %s%s%s. Looking into process %" PRIu32 " takes ",
			 no_exe ? "executable" : "", no_exe && !p->mappings ? ", " : "",
			 p->mappings ? "" : "executable mappings", p->pid);
	inspect_pid_needs(out);
	(void)buf_append_str(out, ".\n");
}

static int put_process(struct inspect_context *w, uint32_t pid, struct buf *out, struct buf *why)
{
	struct process *p = inspect_context_process(w, pid);

	if (!p)
		return -ENOMEM;
	put_identity(w, p, out);
	if (p->mappings)
		put_mappings(p->mappings, out);
	if (p->mappings && p->identity.exe[0])
		return 0;
	/* It may have ended just now; else it is not ours. */
	int r = inspect_pid_check(pid, why);
	if (r < 0)
		return r;
	put_missing(p, out);
	return 0;
}

static int show(struct inspect_context *w, uint32_t pid, bool is_first, struct buf *why)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
	int r = inspect_pid_check(pid, why);

	if (r < 0)
		return r;
	if (!is_first)
		(void)buf_append_char(&out, '\n');
	r = put_process(w, pid, &out, why);
	if (reader_get_stats().n_lost > 0)
		(void)buf_append_str(
			&out, "\nNot all of it was read: its memory, or a file system (FUSE or "
			      "NFS?), did not answer in time.\n");
	if (r == 0)
		r = file_write_fd(STDOUT_FILENO, buf_str(&out), out.len);
	if (r < 0 && why->len == 0)
		(void)buf_printf(why, "process %" PRIu32 ": %s", pid, strerror(-r));
	return r;
}

int inspect_process(int argc, char **argv)
{
	return inspect_each("inspect process", help, show, argc, argv);
}

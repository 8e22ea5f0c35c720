/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the separate debug file of a mapped file. */
#include "agent/symbol/debug_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/object/debug_file.h"
#include "agent/process/file_table.h"
#include "agent/util/clock.h"
#include "agent/util/foreign_file.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

/* The worker's few places are for intervals and tables: this is only begun while at most so many are taken. */
#define MAX_OTHER_JOBS 1

/* Candidates on their way through the worker. */
struct check {
	struct worker_job job;
	struct mapped_file *file; /* a reference */
	struct debug_file_candidates candidates;
	uint64_t print;
	uint64_t now_ns;
	int fd; /* the one that fits; −1 */
};

/* What cannot be reached is not there. */
static void collect_below(const char *root, struct elf *elf, const char *path,
			  struct debug_file_candidates *candidates)
{
	_cleanup_close_ int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root_fd >= 0)
		(void)debug_file_collect(elf, root_fd, path, candidates);
}

/* By what no one can set back when he writes to a file. Never 0. */
static uint64_t print_of(const struct debug_file_candidates *candidates)
{
	uint64_t print = 1;

	for (uint32_t i = 0; i < candidates->n; i++) {
		struct stat st = { 0 };

		(void)foreign_stat(candidates->items[i].fd, &st);
		const uint64_t facts[] = { st.st_dev, st.st_ino, (uint64_t)st.st_size,
					   (uint64_t)st.st_ctim.tv_sec,
					   (uint64_t)st.st_ctim.tv_nsec };
		print = hash_bytes(facts, sizeof(facts), print);
	}
	return print ? print : 1;
}

/* The search is one call of a reader: it walks paths, and reads all that it finds. What it looks at is its own. */
struct search {
	struct reader_call call;
	int fd;	    /* of the object; owned */
	char *path; /* owned */
	uint32_t pid;
	struct debug_file_candidates candidates;
	uint64_t print;
};

static void blame_devices(const struct search *s)
{
	for (uint32_t i = 0; i < s->candidates.n; i++) {
		struct stat st;
		int fd = s->candidates.items[i].fd;

		if (!reader_tells_at_once(fd) && foreign_stat(fd, &st) == 0)
			reader_blame_device(st.st_dev, s->pid);
	}
}

static void search_run(struct reader_call *call)
{
	struct search *s = CONTAINER_OF(call, struct search, call);
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_close_ int fd = TAKE_FD(s->fd);
	struct bytes bytes;
	char root[64];

	if (bytes_from_fd(fd, &bytes) < 0 || elf_new(bytes, &elf) != 0)
		return;
	(void)snprintf(root, sizeof(root), "/proc/%u/root", s->pid);
	collect_below("/", elf, s->path, &s->candidates);
	collect_below(root, elf, s->path, &s->candidates);
	s->print = print_of(&s->candidates);
	blame_devices(s);
}

static void search_free(struct reader_call *call)
{
	struct search *s = CONTAINER_OF(call, struct search, call);

	reader_close(s->fd);
	free(s->path);
	debug_file_candidates_fini(&s->candidates);
	free(s);
}

/* What does not come in time is not there, and looked for again some time. */
static void collect(const struct mapped_file *file, uint32_t pid,
		    struct debug_file_candidates *candidates, uint64_t *ret_print)
{
	struct reader_subject subject = { .reason = READER_names, .pid = pid };
	struct search *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	s->call = (struct reader_call){ .run = search_run, .free = search_free };
	s->fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	s->path = strdup(file->path);
	s->pid = pid;
	if (!s->path || s->fd < 0) {
		search_free(&s->call);
		return;
	}
	if (reader_run(&s->call, &subject) < 0)
		return;
	*candidates = s->candidates;
	s->candidates.n = 0;
	*ret_print = s->print;
	search_free(&s->call);
}

static void settle(struct mapped_file *file, int fd, uint64_t print, uint64_t now_ns)
{
	file->debug_refused = fd < 0 ? print : 0;
	if (fd >= 0 && !file->has_debug && file->fd >= 0)
		mapped_file_take_debug_fd(file, fd);
	else if (fd >= 0)
		reader_close(fd);
	else
		file->debug_missed_ns = now_ns;
}

static void run(struct worker_job *job)
{
	struct check *c = CONTAINER_OF(job, struct check, job);

	(void)debug_file_choose(&c->candidates, &c->fd);
}

static void done(struct worker_job *job)
{
	struct check *c = CONTAINER_OF(job, struct check, job);

	c->file->debug_is_checked = false;
	settle(c->file, c->fd, c->print, c->now_ns);
	mapped_file_unref(c->file);
	debug_file_candidates_fini(&c->candidates);
	free(c);
}

/* Takes the candidates, when there is room for the job; else they are looked for again the next time. */
static void submit(struct worker *worker, struct mapped_file *file,
		   struct debug_file_candidates *candidates, uint64_t print, uint64_t now_ns)
{
	_cleanup_free_ struct check *c =
		worker_n_jobs(worker) <= MAX_OTHER_JOBS ? malloc(sizeof(*c)) : NULL;

	if (!c)
		return;
	*c = (struct check){
		.job = { .run = run, .done = done },
		.file = file,
		.candidates = *candidates,
		.print = print,
		.now_ns = now_ns,
		.fd = -1,
	};
	if (worker_submit(worker, &c->job) < 0)
		return;
	(void)mapped_file_ref(file);
	file->debug_is_checked = true;
	candidates->n = 0;
	c = NULL;
}

void debug_open(struct mapped_file *file, uint32_t pid, uint64_t now_ns, struct worker *worker)
{
	_cleanup_candidates_ struct debug_file_candidates candidates = { 0 };
	uint64_t print = 0;
	int fd = -1;

	if (file->vdso || file->fd < 0 || file->has_debug || file->debug_is_checked)
		return;
	if (file->debug_missed_ns && now_ns < file->debug_missed_ns + DEBUG_OPEN_RETRY_NS)
		return;
	collect(file, pid, &candidates, &print);
	if (candidates.n == 0 || print == file->debug_refused) {
		file->debug_missed_ns = now_ns;
	} else if (worker && !candidates.items[0].is_sure) {
		submit(worker, file, &candidates, print, now_ns);
	} else {
		(void)debug_file_choose(&candidates, &fd);
		settle(file, fd, print, now_ns);
	}
}

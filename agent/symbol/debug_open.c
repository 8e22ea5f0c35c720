/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the separate debug file of a mapped file. */
#include "agent/symbol/debug_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "agent/object/debug_file.h"
#include "agent/process/file_table.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

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

static void collect(struct mapped_file *file, uint32_t pid,
		    struct debug_file_candidates *candidates)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct bytes bytes;
	char root[64];

	if (bytes_from_fd(file->fd, &bytes) < 0 || elf_new(bytes, &elf) != 0)
		return;
	(void)snprintf(root, sizeof(root), "/proc/%u/root", pid);
	collect_below("/", elf, file->path, candidates);
	collect_below(root, elf, file->path, candidates);
}

/* By what no one can set back when he writes to a file. Never 0. */
static uint64_t print_of(const struct debug_file_candidates *candidates)
{
	uint64_t print = 1;

	for (uint32_t i = 0; i < candidates->n; i++) {
		struct stat st = { 0 };

		(void)fstat(candidates->items[i].fd, &st);
		const uint64_t facts[] = { st.st_dev, st.st_ino, (uint64_t)st.st_size,
					   (uint64_t)st.st_ctim.tv_sec,
					   (uint64_t)st.st_ctim.tv_nsec };
		print = hash_bytes(facts, sizeof(facts), print);
	}
	return print ? print : 1;
}

static void settle(struct mapped_file *file, int fd, uint64_t print, uint64_t now_ns)
{
	file->debug_refused = fd < 0 ? print : 0;
	if (fd >= 0 && !file->has_debug && file->fd >= 0)
		mapped_file_take_debug_fd(file, fd);
	else if (fd >= 0)
		(void)close(fd);
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
	int fd = -1;

	if (file->vdso || file->fd < 0 || file->has_debug || file->debug_is_checked)
		return;
	if (file->debug_missed_ns && now_ns < file->debug_missed_ns + DEBUG_OPEN_RETRY_NS)
		return;
	collect(file, pid, &candidates);
	uint64_t print = print_of(&candidates);
	if (candidates.n == 0 || print == file->debug_refused) {
		file->debug_missed_ns = now_ns;
	} else if (worker && !candidates.items[0].is_sure) {
		submit(worker, file, &candidates, print, now_ns);
	} else {
		(void)debug_file_choose(&candidates, &fd);
		settle(file, fd, print, now_ns);
	}
}

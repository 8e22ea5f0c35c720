/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side: one file and its reader. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/dwarf/answering.h"
#include "agent/dwarf/channel.h"
#include "agent/dwarf/client_internal.h"
#include "agent/object/lines/source_lines.h"
#include "agent/util/clock.h"
#include "agent/util/foreign_file.h"
#include "agent/util/macro.h"

/* Seven numbers (proc(5), /proc/PID/statm). */
#define STATM_MAX_BYTES 256
/* What look() says. */
#define TOO_LARGE (CHANNEL_OUTCOME_MAX + 1)
#define MALFORMED (CHANNEL_OUTCOME_MAX + 2)

/* Memory that is the reader's alone, or was the server's before. */
static uint64_t read_memory(const struct dwarf_file *f)
{
	char text[STATM_MAX_BYTES];
	uint64_t resident = 0, shared = 0;
	ssize_t n = f->statm_fd >= 0 ? pread(f->statm_fd, text, sizeof(text) - 1, 0) : -1;
	char *at;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	(void)strtoull(text, &at, 10);
	resident = strtoull(at, &at, 10);
	shared = strtoull(at, &at, 10);
	return resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static int look(void *data)
{
	struct dwarf_file *f = data;
	uint64_t bytes = read_memory(f);

	f->now_bytes = bytes > f->first_bytes ? bytes - f->first_bytes : 0;
	return f->now_bytes > f->max_bytes ? TOO_LARGE : 0;
}

static enum telemetry_counter reason_of_status(int status)
{
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == SOURCE_LINES_EXIT_MEMORY)
		return TELEMETRY_dwarf_helper_out_of_memory;
	if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return TELEMETRY_dwarf_helper_timed_out;
	if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return TELEMETRY_dwarf_helper_misbehaved;
	return TELEMETRY_dwarf_helper_crashed;
}

/* Ends the reader. How it had ended before, where it had. */
static int end_reader(struct dwarf_file *f, int *ret_status)
{
	const struct dwarf_order order = { DWARF_END, f->pid };
	struct dwarf_done done = { .status = -1 };
	bool is_there = f->pid > 0 && f->generation == f->client->generation;

	cleanup_close_p(&f->fd);
	f->fd = -1;
	f->pid = 0;
	int r = is_there ? dwarf_client_order(f->client, &order, NULL, 0, &done) : DWARF_NOT_NOW;
	*ret_status = done.status;
	return r;
}

/* `why` is what channel_wait() or the answer said. A reader that went with the server is no fault of the file's. */
static int fail(struct dwarf_file *f, int why)
{
	int status;
	int r = end_reader(f, &status);

	if (r != 0)
		return r;
	switch (why) {
	case CHANNEL_LATE:
		dwarf_client_failed(f->client, f->owner, TELEMETRY_dwarf_helper_timed_out);
		break;
	case TOO_LARGE:
		dwarf_client_failed(f->client, f->owner, TELEMETRY_dwarf_helper_out_of_memory);
		break;
	case MALFORMED:
		dwarf_client_failed(f->client, f->owner, TELEMETRY_dwarf_helper_misbehaved);
		break;
	default:
		dwarf_client_failed(f->client, f->owner, reason_of_status(status));
	}
	return DWARF_FAILED;
}

/* An answer before a time. 0, what fail() takes, -ENOMEM. */
static int receive(struct dwarf_file *f, uint64_t until_ns, struct arena *strings,
		   struct dwarf_answer *answer)
{
	int r = channel_wait(f->fd, until_ns, look, f);

	if (r != 0)
		return r;
	ssize_t n = channel_receive(f->fd, f->message, sizeof(f->message), NULL, 0);
	if (n <= 0)
		return n == -EMSGSIZE ? MALFORMED : CHANNEL_ENDED;
	r = dwarf_answer_read(f->message, (size_t)n, strings, answer);
	if (r > 0)
		return MALFORMED;
	return r == 0 ? look(f) : r;
}

static int ask(struct dwarf_file *f, const struct dwarf_question *question, const int *fds,
	       size_t n_fds)
{
	int r = channel_send(f->fd, question, sizeof(*question), fds, n_fds);

	return r < 0 ? CHANNEL_ENDED : r;
}

/* Once, and no more than it says: its limit for files is that (sandbox.h). */
static int give_scratch(struct dwarf_file *f, uint64_t n_bytes)
{
	struct dwarf_question question = { .kind = DWARF_SCRATCH };

	if (!f->scratch || f->scratch_fd >= 0)
		return MALFORMED;
	if (scratch_open(f->scratch, n_bytes, &f->scratch_fd) != 0)
		return ask(f, &question, NULL, 0);
	f->n_scratch_bytes = n_bytes;
	return ask(f, &question, &f->scratch_fd, 1);
}

static int open_lines(struct dwarf_file *f, size_t max_bytes, struct dwarf_answer *answer)
{
	const struct dwarf_question question = { DWARF_OPEN, f->scratch != NULL, max_bytes };
	uint64_t until_ns = clock_mono_ns() + DWARF_OPEN_NS;
	int r = ask(f, &question, NULL, 0);

	do {
		if (r == 0)
			r = receive(f, until_ns, NULL, answer);
		if (r == 0 && answer->kind == DWARF_WANTS_SCRATCH)
			r = give_scratch(f, answer->value);
	} while (r == 0 && answer->kind == DWARF_WANTS_SCRATCH);
	return r;
}

/* The memory that it had is what its limits left it. */
static int read_error(uint64_t error)
{
	return error == ENOMEM ? TOO_LARGE : 0;
}

static int start_reader(struct dwarf_file *f, int fd)
{
	const struct dwarf_order order = { .kind = DWARF_START };
	char path[sizeof("/proc//statm") + 10];
	struct dwarf_done done;
	int fds[2];
	int r = channel_new(fds);

	if (r < 0)
		return r;
	f->fd = fds[0];
	_cleanup_close_ int theirs = fds[1];

	r = dwarf_client_order(f->client, &order, (const int[]){ theirs, fd }, 2, &done);
	if (r != 0 || done.pid <= 0)
		return DWARF_NOT_NOW;
	f->pid = done.pid;
	f->generation = f->client->generation;
	(void)snprintf(path, sizeof(path), "/proc/%" PRId32 "/statm", done.pid);
	f->statm_fd = open(path, O_RDONLY | O_CLOEXEC);
	f->first_bytes = read_memory(f);
	return 0;
}

static int file_open(struct dwarf_file *f, int fd, size_t max_bytes)
{
	struct dwarf_answer answer = { 0 };
	int r = start_reader(f, fd);

	if (r != 0)
		return r;
	f->max_bytes = 2 * (uint64_t)max_bytes + DWARF_SLACK_BYTES;
	r = open_lines(f, max_bytes, &answer);
	if (r == 0 && answer.kind == DWARF_ERROR)
		r = read_error(answer.value);
	if (r == 0 && answer.kind == DWARF_HAS_FRAMES)
		r = MALFORMED;
	if (r != 0)
		return r == -ENOMEM ? r : fail(f, r);
	f->has_unpacked = answer.kind == DWARF_IS_OPEN && answer.value;
	return answer.kind == DWARF_IS_OPEN ? 0 : DWARF_NONE;
}

/* Most files have none: then nothing is started for them. */
static int has_dwarf(int fd, size_t max_bytes)
{
	struct bytes file;

	if (max_bytes < SOURCE_LINES_MIN_BYTES)
		return DWARF_NONE;
	int r = bytes_from_fd(fd, &file);
	if (r == 0)
		r = source_lines_exist(&file);
	return r > 0 ? DWARF_NONE : r;
}

int dwarf_file_open(struct dwarf_client *client, int fd, size_t max_bytes, struct scratch *scratch,
		    struct dwarf_file **ret_file)
{
	_cleanup_(dwarf_file_closep) struct dwarf_file *f = NULL;
	struct stat st;
	int r = has_dwarf(fd, max_bytes);

	if (r == 0 && foreign_stat(fd, &st) < 0)
		r = -errno;
	if (r != 0)
		return r;
	struct dwarf_owner owner = dwarf_owner_of(st.st_uid, st.st_dev);
	r = dwarf_client_start(client, owner, clock_mono_ns());
	if (r != 0)
		return r;
	f = malloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	memset(f, 0, offsetof(struct dwarf_file, message));
	f->client = client;
	f->owner = owner;
	f->fd = f->statm_fd = f->scratch_fd = -1;
	f->scratch = scratch;
	client->n_files++;
	r = file_open(f, fd, max_bytes);
	if (r != 0)
		return r;
	*ret_file = TAKE_PTR(f);
	return 0;
}

void dwarf_file_close(struct dwarf_file *file)
{
	int status;

	if (!file)
		return;
	(void)end_reader(file, &status);
	cleanup_close_p(&file->statm_fd);
	if (file->scratch_fd >= 0)
		scratch_close(file->scratch, file->scratch_fd, file->n_scratch_bytes);
	file->client->n_files--;
	free(file);
}

bool dwarf_file_has_scratch(const struct dwarf_file *file)
{
	return file->has_unpacked;
}

size_t dwarf_file_bytes(const struct dwarf_file *file)
{
	return sizeof(*file) + (size_t)file->now_bytes;
}

int dwarf_file_frames(struct dwarf_file *file, uint64_t vaddr, struct arena *strings,
		      struct source_frames *ret_frames)
{
	const struct dwarf_question question = { .kind = DWARF_FRAMES, .value = vaddr };
	struct dwarf_answer answer = { .frames = ret_frames };

	if (file->pid == 0 || file->generation != file->client->generation)
		return DWARF_NOT_NOW;
	int r = ask(file, &question, NULL, 0);
	if (r == 0)
		r = receive(file, clock_mono_ns() + DWARF_FRAMES_NS, strings, &answer);
	if (r == 0 && answer.kind == DWARF_ERROR)
		r = read_error(answer.value);
	if (r == 0 && (answer.kind == DWARF_IS_OPEN || answer.kind == DWARF_WANTS_SCRATCH))
		r = MALFORMED;
	if (r != 0)
		return r == -ENOMEM ? r : fail(file, r);
	return answer.kind == DWARF_HAS_FRAMES ? 0 : DWARF_NONE;
}

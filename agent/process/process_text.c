/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: anonymous memory that holds the text of a file.
 *
 * Where a file's text was, or beside its other mappings, there may be a copy of the text or
 * anything else. Pieces all over the range decide, both ends among them: all equal to the file's,
 * or it stays anonymous. A program may be seen before it has copied everything, so a comparison that
 * failed is made again some times, later and later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/mapping_edit.h"
#include "agent/process/process_private.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

/* A range of one page is compared whole. */
#define TEXT_N_PIECES 8
#define TEXT_PIECE_BYTES 512
/* Memory nobody has written to equals the padding of a file. So many bytes must be something else:
 * a dozen instructions. */
#define TEXT_LEAST_EVIDENCE 64
/* At once, after 1 s and after 10 s more: copying takes 0.1 s a gigabyte, starting up some seconds. */
#define TEXT_MAX_TRIES 3
#define TEXT_FIRST_WAIT_NS NS_PER_S
#define TEXT_WAIT_FACTOR 10
/* A process, for one that puts anonymous memory over libraries again and again. Twenty microseconds
 * each, with the opening of /proc. */
#define TEXT_MAX_COMPARED_A_SECOND 8

/* Reading a file and another one's memory may both never return: one call of a reader does all of it. */
struct compare_call {
	struct reader_call call;
	int dir_fd;  /* of /proc; owned, as is the next one */
	int file_fd; /* closing it may wait */
	struct text_guess guess;
	bool is_copy;
};

static bool read_all(int fd, uint8_t *bytes, uint64_t at)
{
	size_t n = 0;

	while (n < TEXT_PIECE_BYTES) {
		ssize_t got = pread(fd, bytes + n, TEXT_PIECE_BYTES - n, (off_t)(at + n));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	return true;
}

/* Adds the bytes that are not 0 to the evidence. */
static bool piece_is_equal(int mem_fd, uint64_t addr, int file_fd, uint64_t file_off,
			   size_t *evidence)
{
	uint8_t memory[TEXT_PIECE_BYTES];
	uint8_t file[TEXT_PIECE_BYTES];

	if (!read_all(file_fd, file, file_off) || !read_all(mem_fd, memory, addr) ||
	    memcmp(memory, file, sizeof(file)) != 0)
		return false;
	for (size_t i = 0; i < sizeof(file); i++)
		*evidence += file[i] != 0;
	return true;
}

static bool is_copy(int mem_fd, int file_fd, const struct text_guess *g)
{
	uint64_t len = g->end - g->begin;
	size_t evidence = 0;

	if (len < TEXT_PIECE_BYTES)
		return false;
	for (unsigned int i = 0; i < TEXT_N_PIECES; i++) {
		uint64_t at = (len - TEXT_PIECE_BYTES) / (TEXT_N_PIECES - 1) * i;

		if (i == TEXT_N_PIECES - 1)
			at = len - TEXT_PIECE_BYTES;
		if (!piece_is_equal(mem_fd, g->begin + at, file_fd, g->file_off + at, &evidence))
			return false;
	}
	return evidence >= TEXT_LEAST_EVIDENCE;
}

static void compare_run(struct reader_call *call)
{
	struct compare_call *c = CONTAINER_OF(call, struct compare_call, call);
	_cleanup_close_ int mem_fd = openat(c->dir_fd, "mem", O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	c->is_copy = mem_fd >= 0 && is_copy(mem_fd, c->file_fd, &c->guess);
}

static void compare_free(struct reader_call *call)
{
	struct compare_call *c = CONTAINER_OF(call, struct compare_call, call);

	if (c->dir_fd >= 0)
		(void)close(c->dir_fd);
	reader_close(c->file_fd);
	free(c);
}

static bool compare(const struct proc *proc, int file_fd, const struct text_guess *guess)
{
	struct reader_subject subject = { .reason = READER_memory,
					  .pid = proc->pid,
					  .start = proc->start_ticks };
	struct compare_call *c = calloc(1, sizeof(*c));

	if (!c)
		return false;
	*c = (struct compare_call){
		.call = { .run = compare_run, .free = compare_free },
		.dir_fd = fcntl(proc->live_fd, F_DUPFD_CLOEXEC, 0),
		.file_fd = fcntl(file_fd, F_DUPFD_CLOEXEC, 0),
		.guess = *guess,
	};
	if (reader_run(&c->call, &subject) < 0)
		return false;
	bool is_equal = c->is_copy;
	compare_free(&c->call);
	return is_equal;
}

static bool claim_holds(struct process_table *t, struct process *p, const struct proc *proc,
			const struct remapped_text *claim)
{
	struct mapping beside = { .begin = claim->beside_begin,
				  .end = claim->beside_end,
				  .kind = MAPPING_FILE,
				  .file = claim->file };

	return process_open_beside(t, p, proc, &beside) == 0 &&
	       compare(proc, claim->file->fd, &claim->guess);
}

/* Index of the claim to be compared now, or REMAPPED_TEXTS_MAX. */
static unsigned int next_to_compare(struct process *p, const struct remapped_texts *claims,
				    uint64_t now_ns)
{
	if (now_ns - p->compared_since_ns >= NS_PER_S) {
		p->compared_since_ns = now_ns;
		p->n_compared = 0;
	}
	if (p->n_compared >= TEXT_MAX_COMPARED_A_SECOND)
		return REMAPPED_TEXTS_MAX;
	return remapped_texts_due(claims, now_ns);
}

static void put_off(struct remapped_texts *c, unsigned int at, uint64_t now_ns)
{
	struct remapped_text *claim = &c->items[at];
	uint64_t wait_ns = TEXT_FIRST_WAIT_NS;

	if (++claim->n_tries >= TEXT_MAX_TRIES) {
		remapped_texts_remove(c, at);
		return;
	}
	for (unsigned int i = 1; i < claim->n_tries; i++)
		wait_ns *= TEXT_WAIT_FACTOR;
	claim->due_ns = now_ns + wait_ns;
}

/* The other guesses of that range were wrong. Memory that is short leaves it anonymous. */
static bool settle(struct remapped_texts *c, unsigned int at, struct mapping_edit *edit)
{
	const struct text_guess g = c->items[at].guess;
	struct mapping m = { .begin = g.begin,
			     .end = g.end,
			     .file_off = g.file_off,
			     .kind = MAPPING_FILE,
			     .file = mapped_file_ref(c->items[at].file) };
	int r = mapping_edit_put(edit, &m);

	if (r < 0)
		mapped_file_unref(m.file);
	remapped_texts_drop(c, g.begin, g.end);
	return r == 0;
}

bool process_settle_claims(struct process_table *t, struct process *p,
			   struct remapped_texts *claims, const struct proc *proc,
			   struct mapping_edit *edit)
{
	uint64_t now_ns = clock_mono_ns();
	bool any = false;

	for (;;) {
		unsigned int at = next_to_compare(p, claims, now_ns);

		if (at == REMAPPED_TEXTS_MAX)
			return any;
		p->n_compared++;
		if (claim_holds(t, p, proc, &claims->items[at]))
			any |= settle(claims, at, edit);
		else
			put_off(claims, at, now_ns);
	}
}

static int settle_into_mappings(struct process_table *t, struct process *p, const struct proc *proc)
{
	_cleanup_mapping_edit_ struct mapping_edit edit = { 0 };
	struct mappings *m;
	int r = mapping_edit_init(&edit, p->mappings);

	if (r < 0 || !process_settle_claims(t, p, p->remapped_texts, proc, &edit))
		return r;
	r = mapping_edit_finish(&edit, &m);
	if (r == 0)
		process_set_mappings(t, p, m);
	return r;
}

/* False when there is nobody to ask any more. */
static bool compare_now(struct process_table *t, struct process *p)
{
	_cleanup_proc_ struct proc proc = PROC_NONE;

	if (proc_open(t->proc_root, p->pid, &proc) < 0 || !process_confirm(p, &proc))
		return false;
	if (settle_into_mappings(t, p, &proc) < 0)
		telemetry_count(t->telemetry, TELEMETRY_process_read_errors, 1);
	return true;
}

void process_check_text(struct process_table *t, struct process *p)
{
	bool due = p->mappings &&
		   next_to_compare(p, p->remapped_texts, clock_mono_ns()) < REMAPPED_TEXTS_MAX;

	if ((due && !compare_now(t, p)) || p->remapped_texts->n == 0) {
		remapped_texts_free(p->remapped_texts);
		p->remapped_texts = NULL;
	}
}

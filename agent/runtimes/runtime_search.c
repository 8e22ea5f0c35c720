/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for runtimes in the files that processes map. */
#include "agent/runtimes/runtime_search.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "agent/util/clock.h"
#include "agent/util/foreign_file.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"
#include "bpf/image.h"

/* A file that waits, or is looked at, and a process that has it mapped. */
struct waiting {
	struct process *process;  /* a reference */
	struct mapped_file *file; /* likewise */
	unsigned int n_refused;	  /* how often it could not be opened or read just then */
	uint64_t after_ns;	  /* it is not tried before */
	struct list node;
};

/* An opened one. */
struct looked {
	struct waiting *waiting;
	int fd;		     /* its own: the loop may close the file's meanwhile */
	uint64_t generation; /* of the inode; 0: not known */
	bool is_found;
	bool is_refused; /* some of it could not be read just then, or it was not looked at */
	struct runtime_file found;
};

struct look {
	struct worker_job job;
	struct runtime_search *search;
	size_t n;
	struct looked items[RUNTIME_SEARCH_MAX_OPENED];
};

struct runtime_search {
	struct runtime_search_options options;
	struct list waiting;
	size_t n_waiting;
	uint32_t round; /* of looking at everything: mapped_file.searched; never 0 */
	uint64_t round_ns;
	bool is_looking;
	bool stopped;
};

int runtime_search_new(const struct runtime_search_options *o, struct runtime_search **ret_search)
{
	struct runtime_search *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *o;
	s->round = 1;
	list_init(&s->waiting);
	*ret_search = s;
	return 0;
}

static void waiting_free(struct runtime_search *s, struct waiting *w)
{
	list_remove(&w->node);
	s->n_waiting--;
	mapped_file_unref(w->file);
	process_unref(w->process);
	free(w);
}

void runtime_search_free(struct runtime_search *s)
{
	if (!s)
		return;
	LIST_FOREACH (&s->waiting, node)
		waiting_free(s, LIST_ENTRY(node, struct waiting, node));
	free(s);
}

/* A guard's limits say nothing of the file, and are over soon. Who keeps others waiting again and again is left, until it is seen mapped again. */
static void wait_again(struct runtime_search *s, struct waiting *w)
{
	list_remove(&w->node);
	if (w->n_refused >= RUNTIME_SEARCH_MAX_REFUSED || s->stopped) {
		w->file->searched = 0;
		waiting_free(s, w);
		return;
	}
	w->after_ns = clock_mono_ns() + (RUNTIME_SEARCH_REFUSED_NS << w->n_refused);
	w->n_refused++;
	list_push_back(&s->waiting, &w->node);
}

static void look_free(struct look *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct looked *item = &l->items[i];

		reader_close(item->fd);
		if (item->is_refused)
			wait_again(l->search, item->waiting);
		else
			waiting_free(l->search, item->waiting);
	}
	free(l);
}

/* As the kernel half numbers it. Where a file system lies above another one (overlayfs) the kernel may have another inode: there samples tell it. */
static uint64_t image_of(const struct looked *item)
{
	const struct file_key *key = &item->waiting->file->key;
	struct image_inode i = { .generation = item->generation };
	unsigned int version = 0;
	struct stat st;

	if (foreign_stat(item->fd, &st) < 0 || st.st_dev != key->dev || st.st_ino != key->inode)
		return 0;
	if (!i.generation && reader_tells_at_once(item->fd) &&
	    ioctl(item->fd, FS_IOC_GETVERSION, &version) == 0)
		i.generation = version;
	i.number = key->inode;
	i.dev = (uint64_t)major(key->dev) << 20 | minor(key->dev);
	i.n_bytes = (uint64_t)st.st_size;
	i.changed_ns = (uint64_t)st.st_ctim.tv_sec * NS_PER_S + (uint64_t)st.st_ctim.tv_nsec;
	return image_number(&i);
}

static void look_at(struct looked *item)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	uint64_t n_failed = reader_n_failed();
	struct bytes bytes;
	int r = bytes_from_fd(item->fd, &bytes);

	if (r == 0)
		r = elf_new(bytes, &elf);
	if (r == 0)
		r = elf_load_sections(elf);
	item->is_found = r == 0 && runtime_detect(elf, &item->found);
	/* What could not be read may be what is missing in it. */
	item->is_refused = reader_n_failed() != n_failed;
	item->is_found = item->is_found && !item->is_refused;
	if (item->is_found)
		item->found.image = image_of(item);
}

/* Worker. */
static void look(struct worker_job *job)
{
	struct look *l = CONTAINER_OF(job, struct look, job);

	for (size_t i = 0; i < l->n; i++)
		look_at(&l->items[i]);
}

static void on_looked(struct worker_job *job)
{
	struct look *l = CONTAINER_OF(job, struct look, job);
	struct runtime_search *s = l->search;

	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].is_found)
			s->options.found(l->items[i].waiting->file, &l->items[i].found,
					 s->options.data);
	look_free(l);
	s->is_looking = false;
}

/* 0 or -errno. */
static int look_add(struct runtime_search *s, struct look *l, struct waiting *w)
{
	int r = process_open_file(s->options.processes, w->process, w->file);
	int fd = r < 0 ? -1 : fcntl(w->file->fd, F_DUPFD_CLOEXEC, 0);

	if (r == 0 && fd < 0)
		r = -errno;
	if (r < 0)
		return r;
	list_remove(&w->node);
	l->items[l->n++] = (struct looked){ .waiting = w,
					    .fd = fd,
					    .generation = mapped_file_generation(w->file),
					    .is_refused = true };
	return 0;
}

/* What cannot be opened may be shown by another process. */
static void look_try(struct runtime_search *s, struct look *l, struct waiting *w)
{
	int r = look_add(s, l, w);

	if (reader_is_passing(r)) {
		wait_again(s, w);
	} else if (r < 0) {
		w->file->searched = 0;
		waiting_free(s, w);
	}
}

/* Those that have waited longest. */
static void look_fill(struct runtime_search *s, struct look *l)
{
	size_t n_left = ARRAY_SIZE(l->items);
	uint64_t now_ns = clock_mono_ns();

	LIST_FOREACH (&s->waiting, node) {
		struct waiting *w = LIST_ENTRY(node, struct waiting, node);

		if (n_left == 0)
			return;
		if (now_ns < w->after_ns)
			continue;
		n_left--;
		look_try(s, l, w);
	}
}

void runtime_search_run(struct runtime_search *s)
{
	if (list_empty(&s->waiting) || s->is_looking || s->stopped ||
	    !worker_has_room(s->options.worker))
		return;
	struct look *l = calloc(1, sizeof(*l));
	if (!l)
		return;
	l->job = (struct worker_job){ .run = look, .done = on_looked };
	l->search = s;
	look_fill(s, l);
	if (l->n == 0 || worker_submit(s->options.worker, &l->job) < 0)
		look_free(l);
	else
		s->is_looking = true;
}

static void add_file(struct runtime_search *s, struct process *p, struct mapped_file *f)
{
	struct waiting *w = calloc(1, sizeof(*w));

	if (!w)
		return;
	w->process = process_ref(p);
	w->file = mapped_file_ref(f);
	f->searched = s->round;
	list_push_back(&s->waiting, &w->node);
	s->n_waiting++;
}

void runtime_search_add(struct runtime_search *s, struct process *p)
{
	const struct mappings *m = p->mappings;

	for (uint32_t i = 0; m && runtime_is_any() && i < m->n; i++) {
		struct mapped_file *f = m->items[i].file;

		if (s->stopped || s->n_waiting >= RUNTIME_SEARCH_MAX_WAITING)
			return;
		if (f && !f->vdso && f->searched != s->round)
			add_file(s, p, f);
	}
}

void runtime_search_again(struct runtime_search *s, uint64_t now_ns)
{
	if (now_ns < s->round_ns + RUNTIME_SEARCH_AGAIN_NS)
		return;
	s->round_ns = now_ns;
	if (++s->round == 0)
		s->round = 1;
}

void runtime_search_stop(struct runtime_search *s)
{
	s->stopped = true;
}

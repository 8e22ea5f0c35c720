/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a store, through the worker. */
#include "agent/store/disk/disk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/disk/disk_account.h"
#include "agent/util/clock.h"
#include "agent/util/list.h"
#include "agent/util/locked_dir.h"
#include "agent/util/log.h"

/* How soon to ask the worker again when it has no room. */
#define DISK_AGAIN_NS (100 * NS_PER_MS)

enum disk_what { DISK_LIST, DISK_LOAD, DISK_WRITE, DISK_REMOVE };

/* Something to do, then done: belongs to the worker while it is under way. */
struct disk_op {
	struct worker_job job;
	struct list node; /* in `todo` */
	struct disk *disk;
	enum disk_what what;
	struct disk_name name;
	struct segment *segment; /* a reference; of a load its result */
	struct disk_names names; /* of a listing */
	int result;		 /* 0, -errno; DISK_DAMAGED */
	size_t bytes;
};

struct disk {
	struct disk_options options;
	char *path;
	int dir_fd;
	struct list todo;
	struct disk_op *busy;
	struct disk_names waiting; /* still to be read, from n_read on */
	size_t n_read;
	bool closing;
	struct disk_account account;
	struct loop_timer *again;
};

static void disk_next(struct disk *d);

static void op_free(struct disk_op *op)
{
	segment_unref(op->segment);
	disk_names_fini(&op->names);
	free(op);
}

size_t disk_bytes(const struct disk *d)
{
	return disk_account_bytes(&d->account);
}

size_t disk_n_files(const struct disk *d)
{
	return d->account.n;
}

/* Worker: a file that is not what it should be is set aside under another name. */
static int run_load(struct disk_op *op)
{
	_cleanup_free_ uint8_t *image = NULL;
	size_t n;
	int dir_fd = op->disk->dir_fd;
	int r = disk_read_file(dir_fd, op->name, op->disk->options.max_bytes, &image, &n,
			       &op->bytes);

	if (r < 0)
		return r;
	if (r == DISK_READ) {
		r = segment_new(image, n, &op->segment);
		if (r < 0)
			return r;
		if (r == SEGMENT_OPENED) {
			image = NULL;
			return DISK_READ;
		}
	}
	r = disk_set_aside(dir_fd, op->name);
	return r < 0 ? r : DISK_DAMAGED;
}

static int run_write(struct disk_op *op)
{
	size_t n;
	const uint8_t *image = segment_image(op->segment, &n);
	int r = disk_write_file(op->disk->dir_fd, op->name, image, n, &op->bytes);

	if (r < 0 || op->name.head)
		return r;
	return disk_remove_file(op->disk->dir_fd, (struct disk_name){ op->name.id, true });
}

static int run_remove(struct disk_op *op)
{
	int r = disk_remove_file(op->disk->dir_fd, (struct disk_name){ op->name.id, false });
	int r_head = disk_remove_file(op->disk->dir_fd, (struct disk_name){ op->name.id, true });

	return r < 0 ? r : r_head;
}

static void op_run(struct worker_job *job)
{
	struct disk_op *op = CONTAINER_OF(job, struct disk_op, job);

	switch (op->what) {
	case DISK_LIST:
		op->result = disk_list(op->disk->dir_fd, &op->names);
		break;
	case DISK_LOAD:
		op->result = run_load(op);
		break;
	case DISK_WRITE:
		op->result = run_write(op);
		break;
	case DISK_REMOVE:
		op->result = run_remove(op);
		break;
	}
}

static void log_failure(const struct disk_op *op)
{
	static const char *const words[] = { [DISK_LIST] = "list",
					     [DISK_LOAD] = "read",
					     [DISK_WRITE] = "write",
					     [DISK_REMOVE] = "remove" };
	char name[DISK_NAME_BYTES] = "";

	if (op->what != DISK_LIST)
		disk_name_print(op->name, name);
	log_warn("a file of the store is in trouble", LOG_STR("path", op->disk->path),
		 LOG_STR("file", name), LOG_STR("cannot", words[op->what]), LOG_ERR(op->result));
}

static struct disk_op *op_new(struct disk *d, enum disk_what what, struct disk_name name);

static void ask(struct disk *d, enum disk_what what, struct disk_name name)
{
	struct disk_op *op = op_new(d, what, name);

	if (op)
		list_push_back(&d->todo, &op->node);
}

/* The next file to be read, once the one before is dealt with. */
static void ask_load(struct disk *d)
{
	assert(d->n_read <= d->waiting.n);
	if (!d->closing && d->n_read < d->waiting.n)
		ask(d, DISK_LOAD, d->waiting.items[d->n_read++]);
}

static void done_list(struct disk *d, struct disk_op *op)
{
	assert(d->n_read == 0 && d->waiting.n == 0);
	if (op->names.n_strange > 0)
		log_warn("files that are not the store's lie in its directory",
			 LOG_STR("path", d->path), LOG_UINT("files", op->names.n_strange));
	d->waiting = op->names;
	op->names = (struct disk_names){ 0 };
	ask_load(d);
}

static void drop_rest(struct disk *d)
{
	log_info("old files of the store are removed: there is no room for them",
		 LOG_STR("path", d->path), LOG_UINT("files", d->waiting.n - d->n_read + 1));
	for (; d->n_read < d->waiting.n; d->n_read++)
		ask(d, DISK_REMOVE, d->waiting.items[d->n_read]);
}

static void done_load(struct disk *d, struct disk_op *op)
{
	char name[DISK_NAME_BYTES];

	if (op->result == DISK_DAMAGED) {
		disk_name_print(op->name, name);
		log_warn("a damaged file of the store was set aside", LOG_STR("path", d->path),
			 LOG_STR("file", name));
		metric_add(d->options.metrics->disk_damaged_files, 1);
	} else {
		disk_account_set(&d->account, op->name, op->bytes);
		if (!d->closing &&
		    !d->options.loaded(TAKE_PTR(op->segment), op->name.id, d->options.data)) {
			drop_rest(d);
			ask(d, DISK_REMOVE, op->name);
		}
	}
	ask_load(d);
}

static void done_write(struct disk *d, const struct disk_op *op)
{
	metric_add(d->options.metrics->disk_written_bytes, op->bytes);
	disk_account_set(&d->account, op->name, op->bytes);
	if (!op->name.head)
		disk_account_forget(&d->account, (struct disk_name){ op->name.id, true });
}

static void done_remove(struct disk *d, const struct disk_op *op)
{
	disk_account_forget(&d->account, (struct disk_name){ op->name.id, false });
	disk_account_forget(&d->account, (struct disk_name){ op->name.id, true });
}

static void done_failed(struct disk *d, struct disk_op *op)
{
	log_failure(op);
	metric_add(d->options.metrics->disk_errors, 1);
	if (op->what == DISK_LOAD)
		ask_load(d);
}

static void op_done(struct worker_job *job)
{
	struct disk_op *op = CONTAINER_OF(job, struct disk_op, job);
	struct disk *d = op->disk;

	assert(d->busy == op);
	d->busy = NULL;
	if (op->result < 0)
		done_failed(d, op);
	else if (op->what == DISK_LIST)
		done_list(d, op);
	else if (op->what == DISK_LOAD)
		done_load(d, op);
	else if (op->what == DISK_WRITE)
		done_write(d, op);
	else
		done_remove(d, op);
	op_free(op);
	disk_next(d);
}

static struct disk_op *op_new(struct disk *d, enum disk_what what, struct disk_name name)
{
	struct disk_op *op = calloc(1, sizeof(*op));

	if (!op) {
		metric_add(d->options.metrics->disk_errors, 1);
		return NULL;
	}
	*op = (struct disk_op){
		.job = { .run = op_run, .done = op_done }, .disk = d, .what = what, .name = name
	};
	list_init(&op->node);
	return op;
}

static void disk_next(struct disk *d)
{
	if (d->busy || list_empty(&d->todo))
		return;
	struct disk_op *op = LIST_ENTRY(d->todo.next, struct disk_op, node);

	if (worker_submit(d->options.worker, &op->job) < 0) {
		loop_timer_arm(d->again, clock_mono_ns() + DISK_AGAIN_NS);
		return;
	}
	list_remove(&op->node);
	d->busy = op;
}

static void on_again(void *data)
{
	disk_next(data);
}

/* What waits for the same name is overtaken. */
static void drop_writes(struct disk *d, uint64_t id, bool heads_only)
{
	LIST_FOREACH (&d->todo, node) {
		struct disk_op *op = LIST_ENTRY(node, struct disk_op, node);

		if (op->what != DISK_WRITE || op->name.id != id || (heads_only && !op->name.head))
			continue;
		list_remove(&op->node);
		op_free(op);
	}
}

void disk_write(struct disk *d, uint64_t id, bool head, struct segment *segment)
{
	assert(segment);

	struct disk_op *op = op_new(d, DISK_WRITE, (struct disk_name){ id, head });

	if (!op)
		return;
	drop_writes(d, id, true);
	op->segment = segment_ref(segment);
	list_push_back(&d->todo, &op->node);
	disk_next(d);
}

void disk_remove(struct disk *d, uint64_t id)
{
	drop_writes(d, id, false);
	ask(d, DISK_REMOVE, (struct disk_name){ id, false });
	disk_next(d);
}

static int disk_begin(struct disk *d, struct buf *why)
{
	d->dir_fd = locked_dir_make(d->path);
	if (d->dir_fd == -EBUSY)
		(void)buf_printf(why, "the directory %s is used by another store", d->path);
	else if (d->dir_fd < 0)
		(void)buf_printf(why, "cannot open the directory %s: %s", d->path,
				 strerror(-d->dir_fd));
	if (d->dir_fd < 0)
		return d->dir_fd;
	ask(d, DISK_LIST, (struct disk_name){ 0 });
	disk_next(d);
	return 0;
}

int disk_new(const struct disk_options *options, struct buf *why, struct disk **ret_disk)
{
	_cleanup_(disk_freep) struct disk *d = calloc(1, sizeof(*d));

	assert(options->path && options->loop && options->worker && options->metrics);
	assert(options->loaded);
	if (!d)
		return -ENOMEM;
	d->options = *options;
	d->dir_fd = -1;
	list_init(&d->todo);
	d->path = strdup(options->path);
	if (!d->path)
		return -ENOMEM;
	int r = loop_timer_new(options->loop, on_again, d, &d->again);
	r = r < 0 ? r : disk_begin(d, why);
	if (r < 0)
		return r;
	*ret_disk = TAKE_PTR(d);
	return 0;
}

/* An operation that is done begins the next. */
static bool is_busy(const void *data)
{
	const struct disk *d = data;

	return d->busy || !list_empty(&d->todo);
}

/* What others have under way, such as another store that reads its files, is not waited for. */
void disk_free(struct disk *d)
{
	if (!d)
		return;
	d->closing = true;
	while (is_busy(d)) {
		disk_next(d);
		worker_drain_while(d->options.worker, is_busy, d);
	}
	loop_timer_free(d->again);
	cleanup_close_p(&d->dir_fd);
	disk_names_fini(&d->waiting);
	disk_account_fini(&d->account);
	free(d->path);
	free(d);
}

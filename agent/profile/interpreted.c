/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of runtimes, as an interval keeps them: by the name that the kernel half has told, or that the process's memory tells where it could not.
 */
#include "agent/profile/session_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/process/thread_memory.h"
#include "agent/runtimes/name_texts.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Names read here in one round of samples (a tenth of a second), and of them for one process: each may take a page, by a reader. */
#define MAX_READS 32
#define MAX_READS_EACH 8
#define TEXTS_BYTES (WIRE_TEXTS_BYTES + 2 * WIRE_NAME_BYTES)
#define REASON_BYTES 64
/* The file, and what is around it. */
#define UNNAMED_BYTES (NAME_TEXTS_FILE_BYTES + 64)
/* A process that is starting is asked soon, one that never tells hardly costs anything. */
#define RUNTIME_FIRST_WAIT_NS (20 * NS_PER_MS)
#define RUNTIME_LAST_WAIT_NS (10 * NS_PER_S)

/* Who is walked already is walked with it from now on, and whoever runs that executable next from the first tick. */
static void renew(uint32_t pid, void *data)
{
	struct session *s = data;
	struct process *p = process_table_find(s->processes.table, pid);
	struct process_state *k = p ? p->user : NULL;

	if (!k || !session_runtime_is_new(s, p, k))
		return;
	session_publish_anew(s, p, k);
	if (k->image && k->image_exec == p->exec_count)
		runtime_tables_publish_image(s->runtimes.tables, p,
					     process_identity(s->processes.table, p)->exe,
					     k->image);
}

static void on_file(struct mapped_file *f, const struct runtime_file *found, void *data)
{
	struct session *s = data;

	if (s->options.runtimes_off & SESSION_RUNTIME(found->wire.kind))
		return;
	int r = runtime_tables_add(s->runtimes.tables, f, found);
	log_debug("a file holds a runtime", LOG_STR("file", f->path),
		  LOG_STR("runtime", runtime_of(found->wire.kind)->name));
	if (r < 0)
		log_warn("frames of a runtime are not shown: no memory", LOG_STR("file", f->path));
	if (r > 0)
		runtime_search_again(s->runtimes.search, clock_mono_ns());
	tables_each(s->unwind.tables, renew, s);
}

/* What a process has to tell of its runtime may not be there yet: its loader or its constructors have not run, or a page did not come. */
static void wait_for_runtime(struct process_state *k, bool is_all)
{
	if (is_all) {
		k->runtime_wait_ns = 0;
		return;
	}
	k->runtime_wait_ns =
		MIN_OF(MAX_OF(2 * k->runtime_wait_ns, RUNTIME_FIRST_WAIT_NS), RUNTIME_LAST_WAIT_NS);
	k->runtime_ask_ns = clock_mono_ns() + k->runtime_wait_ns;
}

static uint32_t on_publish(const struct process *p, void *data)
{
	struct session *s = data;
	struct process_state *k = p->user;
	bool is_all;
	enum runtime_kind published = runtime_tables_publish(s->runtimes.tables, p, &is_all);

	if (k) {
		k->runtime_epoch = runtime_tables_epoch(s->runtimes.tables);
		k->runtime_files = runtime_tables_files(s->runtimes.tables, p);
		wait_for_runtime(k, is_all);
	}
	return published;
}

static void on_retract(uint32_t pid, void *data)
{
	struct session *s = data;

	runtime_tables_retract(s->runtimes.tables, pid);
}

struct tables_runtimes session_table_runtimes(struct session *s)
{
	return (struct tables_runtimes){ .publish = on_publish, .retract = on_retract, .data = s };
}

static int open_search(struct session *s)
{
	return runtime_search_new(
		&(struct runtime_search_options){
			.worker = s->options.worker,
			.processes = s->processes.table,
			.found = on_file,
			.data = s,
		},
		&s->runtimes.search);
}

int session_open_runtimes(struct session *s, const struct sampler_tables *maps)
{
	int r = runtime_tables_new(
		&(struct runtime_tables_options){
			.runtimes_fd = maps->runtimes_fd,
			.images_fd = maps->runtime_images_fd,
			.libraries_fd = maps->runtime_libraries_fd,
		},
		&s->runtimes.tables);

	s->runtimes.java = (struct java_maps){ .processes_fd = maps->java_processes_fd,
					       .threads_fd = maps->java_threads_fd };
	if (r == 0)
		r = open_search(s);
	s->source_names.table.max_bytes = s->budget.source_bytes;
	if (r == 0)
		r = code_names_new(s->budget.code_names_bytes, maps->told_seed,
				   &s->runtimes.code_names);
	return r;
}

void session_close_runtimes(struct session *s)
{
	runtime_search_free(s->runtimes.search);
	runtime_tables_free(s->runtimes.tables);
	code_names_free(s->runtimes.code_names);
	source_table_clear(&s->source_names.table);
}

const struct runtime *session_runtime_of(uint64_t function)
{
	return runtime_of((uint32_t)(function >> WIRE_RUNTIME_KIND_SHIFT) & WIRE_RUNTIME_KIND_MASK);
}

/* An empty name is what its runtime shows for it. */
static int put_name(struct session *s, const struct code_key *key, struct code_text text)
{
	const struct runtime *runtime = session_runtime_of(key->function);
	char unnamed[UNNAMED_BYTES];

	if (text.n_name == 0 && runtime && runtime->unnamed) {
		text.n_name = runtime->unnamed(&text, unnamed, sizeof(unnamed));
		text.name = unnamed;
	}
	return code_names_put(s->runtimes.code_names, key, &text);
}

/* Whether one more may be read for it in this round. */
bool session_may_read_name(struct session *s, struct process_state *k)
{
	if (s->name_reads.round != s->reading.n_rounds) {
		s->name_reads.round = s->reading.n_rounds;
		s->name_reads.n = 0;
	}
	if (k->reads_round != s->reading.n_rounds) {
		k->reads_round = s->reading.n_rounds;
		k->n_reads = 0;
	}
	if (s->name_reads.n >= MAX_READS || k->n_reads >= MAX_READS_EACH)
		return false;
	s->name_reads.n++;
	k->n_reads++;
	return true;
}

/* What a tick could not read is in memory from then on: the next one reads it. */
static void fetch(struct session *s, const struct wire_name *name)
{
	struct process *p = process_table_find(s->processes.table, name->pid);
	struct thread_memory memory = { .pid = name->pid, .tid = name->pid };
	uint8_t bytes[WIRE_UNREAD_BYTES];

	if (p && p->user && session_may_read_name(s, p->user))
		(void)thread_memory_read(&memory, name->unread, bytes, sizeof(bytes));
}

void session_on_name(const struct wire_name *name, void *data)
{
	struct session *s = data;
	const struct code_key key = { .pid = name->pid,
				      .exec_id = name->exec_id,
				      .function = name->function,
				      .print = name->print };
	char whole[NAME_TEXTS_NAME_BYTES];
	struct name_texts texts;
	struct code_text text;

	name_texts_of(name, &texts, &text);
	session_complete_name(s, &key, name, &text, whole);
	if (put_name(s, &key, text) < 0)
		telemetry_count(s->options.telemetry, TELEMETRY_code_names_dropped, 1);
	if (name->unread)
		fetch(s, name);
}

/* Processes that were published before their file was found to hold a runtime are told of it with their next sample. */
bool session_runtime_is_new(struct session *s, const struct process *p, struct process_state *k)
{
	uint32_t epoch = runtime_tables_epoch(s->runtimes.tables);

	if (k->published && k->runtime_wait_ns && clock_mono_ns() >= k->runtime_ask_ns)
		return true;
	if (!k->published || k->runtime_epoch == epoch)
		return false;
	/* One whose mappings are being replaced is not published now: it is asked for again. */
	if (runtime_tables_files(s->runtimes.tables, p) != k->runtime_files)
		return true;
	k->runtime_epoch = epoch;
	return false;
}

void session_show_image(struct session *s, const struct sample *sample, struct process *p)
{
	struct process_state *k = p->user;

	/* What the sample ran is what is known of the process only where its exec was seen: it may be another one's by now. */
	if (!sample->user_unwound || !sample->user_unwound->image || !k ||
	    !process_image_is_seen(p, sample->head->time_ns))
		return;
	runtime_tables_publish_library(s->runtimes.tables, p, sample->user_unwound->library_text,
				       sample->user_unwound->library_image);
	/* Where its file is not known to hold a runtime it may be when it was looked at. */
	k->image = sample->user_unwound->image;
	k->image_exec = p->exec_count;
	runtime_tables_publish_image(s->runtimes.tables, p,
				     process_identity(s->processes.table, p)->exe, k->image);
}

static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	return thread_memory_read(data, addr, dst, n);
}

/* By a thread that lives: the first one may have ended. False: it has no name that can be read, or too many were read in this round. */
static bool resolve(struct session *s, struct process_state *k, uint32_t tid,
		    const struct runtime *runtime, const struct code_key *key)
{
	struct thread_memory memory = { .pid = key->pid, .tid = tid };
	const struct runtime_memory reading = { .read = read_memory, .data = &memory };
	char texts[TEXTS_BYTES];
	struct code_text text = { 0 };
	struct wire_runtime of;

	/* Who has no number here has no memory to be read. */
	if (!runtime->resolve || !key->pid || !k || !session_may_read_name(s, k))
		return false;
	telemetry_count(s->options.telemetry, TELEMETRY_code_names_read, 1);
	bool is_published = runtime_tables_of(s->runtimes.tables, key->pid, runtime->kind, &of);
	return runtime->resolve(is_published ? &of : NULL, &reading,
				key->function & WIRE_RUNTIME_ADDRESS_MASK, key->print, texts,
				sizeof(texts), &text) &&
	       put_name(s, key, text) == 0;
}

/* "[toy: …]", for a frame that has nothing else to be known by. A reference. */
static struct code_name *reason(struct session *s, const struct runtime *runtime, const char *why)
{
	char name[REASON_BYTES];
	int n = snprintf(name, sizeof(name), "[%s: %s]", runtime->name, why);

	return code_names_intern(
		s->runtimes.code_names,
		&(struct code_text){ .name = name, .n_name = (size_t)n, .file = "" });
}

/* A reference; NULL without memory. */
static struct code_name *name_of(struct session *s, struct process_state *k, uint32_t tid,
				 const struct runtime *runtime, const struct code_key *key)
{
	struct code_name *name = NULL;

	if (!(key->function & WIRE_RUNTIME_ADDRESS_MASK))
		return reason(s, runtime, "frames not readable");
	name = code_names_find(s->runtimes.code_names, key);
	if (!name && resolve(s, k, tid, runtime, key))
		name = code_names_find(s->runtimes.code_names, key);
	if (name)
		return code_name_ref(name);
	telemetry_count(s->options.telemetry, TELEMETRY_code_names_missing, 1);
	return reason(s, runtime, "name not readable");
}

int session_code_frame(struct session *s, struct process *p, const struct wire_sample *head,
		       const struct wire_runtime_frame *f, struct frame_ref *ret_frame)
{
	const struct runtime *runtime = session_runtime_of(f->function);
	const struct code_key key = { .pid = head->pid,
				      .exec_id = head->exec_id,
				      .function = f->function,
				      .print = f->print };

	*ret_frame = frame_ref_of(FRAME_KIND_UNKNOWN, 0);
	if (!runtime)
		return 0;
	struct code_place place = { .name = name_of(s, p->user, head->tid, runtime, &key) };
	if (!place.name)
		return -ENOMEM;
	if (s->options.lines && runtime->line && place.name->line)
		place.line = runtime->line(
			&(struct runtime_lines){ place.name->line, place.name->lines,
						 place.name->n_lines, place.name->lines_format },
			f->position);
	if (s->options.columns && runtime->column && place.line)
		place.column = runtime->column(f->position);
	int r = interval_code_frame(s->interval, &place, ret_frame);
	code_name_unref(place.name);
	return r;
}

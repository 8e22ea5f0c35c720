/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of which a part is not kept by their runtime, but stands in the source of the program: the classes of methods. The source of each program is read
 * once, by a reader, and what it tells of all of its functions is kept for a while.
 */
#include "agent/profile/session_private.h"

#include <errno.h>
#include <string.h>

#include "agent/process/thread_memory.h"
#include "agent/runtimes/name_texts.h"

/* Characters that are read in one round of samples (a tenth of a second): they take two milliseconds of a CPU. After a source that is longer there is none in the next
 * rounds. */
#define MAX_CHARS ((size_t)128 * 1024)
/* Rounds in which it was moved while it was read, or its process is not known yet. */
#define MAX_TRIES 10
/* What a source that is longer is taken for: of those, and of modules of WebAssembly, a part is read. */
#define MAX_CHARGED (1U << 20)

static int read_memory(void *data, uint64_t addr, void *dst, size_t n)
{
	return thread_memory_read(data, addr, dst, n);
}

static bool may_read(struct session *s, struct process_state *k, size_t n_chars)
{
	struct session_source_names *n = &s->source_names;

	uint64_t n_rounds = s->reading.n_rounds - n->round;

	n->round = s->reading.n_rounds;
	n->n_chars -= (size_t)MIN_OF((uint64_t)n->n_chars, n_rounds * MAX_CHARS);
	if (n->n_chars >= MAX_CHARS || !session_may_read_name(s, k))
		return false;
	n->n_chars += n_chars;
	return true;
}

/* 0: the table has it now; -EAGAIN: not yet; -EBUSY: not in this round; another error: nobody can. */
static int read_source(struct session *s, const struct runtime *runtime, const struct code_key *key,
		       const struct source_function *f)
{
	struct process *p = process_table_find(s->processes.table, key->pid);
	struct thread_memory memory = { .pid = key->pid, .tid = key->pid };
	const struct runtime_memory reading = { .read = read_memory,
						.data = &memory,
						.max_bytes = s->budget.read_bytes };
	struct source_facts facts = { 0 };
	struct wire_runtime of;

	if (!p || !p->user)
		return -EAGAIN;
	if (!may_read(s, p->user,
		      MIN_OF(f->n_source, f->end ? MAX_CHARGED : RUNTIME_SOURCE_END)))
		return -EBUSY;
	bool is_published = runtime_tables_of(s->runtimes.tables, key->pid, runtime->kind, &of);
	int r = runtime->read_source(is_published ? &of : NULL, &reading, f, &facts);
	if (r >= 0) {
		size_t n_dropped =
			source_table_put(&s->source_names.table, key->pid, key->exec_id, f, facts);

		telemetry_count(s->options.telemetry, TELEMETRY_sources_dropped,
				n_dropped + (size_t)r);
		r = 0;
	}
	return r;
}

/* The whole name by what is known of its source, which it may lie in; `to` is for that. Returns what read_source() does, and 1: there is more than there was. */
static int complete(struct session *s, const struct code_key *key, const struct source_function *f,
		    struct code_text *text, char *to, size_t n_to)
{
	const struct runtime *runtime = session_runtime_of(key->function);
	struct source_table *t = &s->source_names.table;

	if (!runtime || !runtime->read_source)
		return -ENOENT;
	const struct source_facts *facts = source_table_find(t, key->pid, key->exec_id, f);
	if (!facts) {
		int r = read_source(s, runtime, key, f);
		if (r < 0)
			return r;
		facts = source_table_find(t, key->pid, key->exec_id, f);
	}
	if (!facts || !facts->bytes)
		return 0;
	size_t n = runtime->name_in_source(facts, f, text, to, n_to);
	if (n) {
		text->name = to;
		text->n_name = n;
	}
	text->source_id = runtime->source_id ? runtime->source_id(facts) : NULL;
	return n || text->source_id;
}

static void wait(struct session_source_names *n, const struct waiting_name *w)
{
	if (n->n_waiting < SESSION_MAX_WAITING_NAMES && w->n_tries < MAX_TRIES)
		n->waiting[n->n_waiting++] = *w;
}

void session_complete_name(struct session *s, const struct code_key *key,
			   const struct wire_name *name, struct code_text *text,
			   char to[NAME_TEXTS_NAME_BYTES])
{
	const struct waiting_name w = {
		.key = *key,
		.function = { .address = key->function & WIRE_RUNTIME_ADDRESS_MASK,
			      .print = key->print,
			      .source = name->source,
			      .n_source = name->n_source,
			      .begin = name->begin,
			      .end = name->end },
	};

	if (!name->n_source || !key->pid)
		return;
	int r = complete(s, key, &w.function, text, to, NAME_TEXTS_NAME_BYTES);
	if (r == -EAGAIN || r == -EBUSY)
		wait(&s->source_names, &w);
}

/* A name that was put before. */
static int complete_known(struct session *s, const struct waiting_name *w)
{
	const struct code_name *known = code_names_find(s->runtimes.code_names, &w->key);
	char to[NAME_TEXTS_NAME_BYTES];

	if (!known)
		return -ENOENT;
	struct code_text text = { .name = known->function,
				  .n_name = strlen(known->function),
				  .file = known->file,
				  .n_file = strlen(known->file),
				  .line = known->line,
				  .lines = known->lines,
				  .n_lines = known->n_lines,
				  .lines_format = known->lines_format };
	int r = complete(s, &w->key, &w->function, &text, to, sizeof(to));
	if (r <= 0)
		return r;
	return code_names_put(s->runtimes.code_names, &w->key, &text);
}

void session_complete_waiting(struct session *s)
{
	struct session_source_names *n = &s->source_names;
	size_t n_before = n->n_waiting;

	n->n_waiting = 0;
	for (size_t i = 0; i < n_before; i++) {
		struct waiting_name w = n->waiting[i];
		int r = complete_known(s, &w);

		w.n_tries += r == -EAGAIN;
		if (r == -EAGAIN || r == -EBUSY)
			wait(n, &w);
	}
}

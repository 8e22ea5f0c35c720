/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the profiler (processes, unwind rules, names), for `xagent inspect`. */
#include "agent/cli/inspect_context.h"

#include <sys/resource.h>

#include "agent/symbol/debug_open.h"
#include "agent/util/clock.h"

/* Nothing is put into the arena, so one slot for all files is as good as many. */
#define MAX_OBJECTS (WIRE_OBJECT_FIRST + 1)

/* A descriptor for each mapped file; some programs map thousands. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int init_objects(struct inspect_context *w)
{
	struct kernel_arena_options arena = { .segments_fd = -1, .max_segments = 1 };
	struct object_tables_options objects = {
		.objects_fd = -1,
		.max_objects = MAX_OBJECTS,
		.processes = w->processes,
		.telemetry = w->telemetry,
	};
	int r = kernel_arena_new(&arena, &w->arena);

	objects.arena = w->arena;
	return r < 0 ? r : object_tables_new(&objects, &w->objects);
}

int inspect_context_init(struct inspect_context *w)
{
	struct symbol_store_options symbols = SYMBOL_STORE_OPTIONS_INIT;

	*w = (struct inspect_context){ 0 };
	raise_file_limit();
	int r = telemetry_new(&w->telemetry);
	if (r < 0)
		return r;
	r = process_table_new(&(struct process_table_options){ .telemetry = w->telemetry },
			      &w->processes);
	if (r < 0)
		return r;
	r = init_objects(w);
	if (r < 0)
		return r;
	return symbol_store_new(&symbols, &w->symbols);
}

void inspect_context_fini(struct inspect_context *w)
{
	symbol_store_free(w->symbols);
	object_tables_free(w->objects);
	kernel_arena_free(w->arena);
	process_table_free(w->processes);
	telemetry_free(w->telemetry);
	*w = (struct inspect_context){ 0 };
}

struct process *inspect_context_process(struct inspect_context *w, uint32_t pid)
{
	struct process *p;

	process_table_distrust(w->processes);
	p = process_table_get(w->processes, pid, NULL);
	for (uint32_t i = 0; p && p->mappings && i < p->mappings->n; i++) {
		struct mapped_file *f = p->mappings->items[i].file;

		if (!f)
			continue;
		(void)process_open_file(w->processes, p, f);
		debug_open(f, pid, clock_mono_ns(), NULL);
	}
	return p;
}

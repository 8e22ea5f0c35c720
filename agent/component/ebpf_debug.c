/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information of pyroscope.ebpf. */
#include "agent/component/ebpf_debug.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/component/host_report.h"
#include "agent/component/target_maps.h"
#include "agent/util/file.h"
#include "agent/util/str.h"

/* The longest object below, with room. */
#define MAX_MEMBERS 16
/* /proc/version is one line. */
#define VERSION_MAX_BYTES 4096

struct members {
	struct river_arena *arena;
	struct river_member items[MAX_MEMBERS];
	size_t n;
	bool failed; /* memory is out */
};

static void put(struct members *m, const char *key, const struct river_value *v)
{
	if (v && m->n < MAX_MEMBERS)
		m->items[m->n++] = (struct river_member){ key, v };
	else
		m->failed = true;
}

static void put_number(struct members *m, const char *key, uint64_t n)
{
	put(m, key, river_value_uint(m->arena, n));
}

static void put_text(struct members *m, const char *key, struct str text)
{
	put(m, key, river_value_string(m->arena, text.p, text.n));
}

static const struct river_value *object(const struct members *m)
{
	return m->failed ? NULL : river_value_object(m->arena, m->items, m->n);
}

static void put_host(struct members *m)
{
	_cleanup_buf_ struct buf version = BUF_INIT(VERSION_MAX_BYTES);
	struct utsname u;

	if (uname(&u) == 0)
		put_text(m, "arch", str_from(u.machine));
	if (file_read(AT_FDCWD, "/proc/version", &version) == 0)
		put_text(m, "kernel", str_trim((struct str){ buf_str(&version), version.len }));
}

static const struct river_value *memory_object(struct river_arena *arena,
					       const struct session_memory *memory)
{
	struct members m = { .arena = arena };

	put_number(&m, "limit_bytes", memory->limit_bytes);
	put_number(&m, "arena_bytes", memory->arena_bytes);
	put_number(&m, "arena_used_bytes", memory->arena_used_bytes);
	put_number(&m, "interval_bytes", memory->interval_bytes);
	return object(&m);
}

static const struct river_value *unwind_object(struct river_arena *arena,
					       const struct session_memory *memory)
{
	struct members m = { .arena = arena };

	put_number(&m, "mappings", memory->n_mappings);
	put_number(&m, "files", memory->objects.n_files);
	put_number(&m, "files_loaded", memory->objects.n_by_state[OBJECT_LOADED]);
	put_number(&m, "files_without_room", memory->objects.n_by_state[OBJECT_NO_ROOM]);
	put_number(&m, "files_unreadable", memory->objects.n_by_state[OBJECT_UNREADABLE]);
	put_number(&m, "tables", memory->objects.n_tables);
	put_number(&m, "table_bytes", memory->objects.table_bytes);
	put_number(&m, "rows", memory->objects.n_rows);
	return object(&m);
}

static void put_session(struct members *m, struct session *session)
{
	struct session_memory memory = { 0 };

	session_memory(session, &memory);
	put(m, "memory", memory_object(m->arena, &memory));
	put(m, "unwind", unwind_object(m->arena, &memory));
	put_number(m, "processes", process_table_n(session_processes(session)));
	put_number(m, "sample_rate", sampler_hz(session_sampler(session)));
	put_number(m, "samples_waiting", session_n_waiting(session));
}

int ebpf_debug_info(struct river_arena *arena, const struct ebpf_args *args,
		    struct session *session, const struct host_view *view,
		    const struct river_value **ret_info)
{
	struct members facts = { .arena = arena };
	struct members all = { .arena = arena };
	const struct river_value *info;

	put_host(&facts);
	if (session)
		put_session(&facts, session);
	put(&all, "targets",
	    value_of_labels(arena, (struct labels *const *)args->targets.items,
			    args->targets.n_items));
	put(&all, "session", object(&facts));
	if (session)
		put(&all, "host", host_report_value(view, arena));
	info = object(&all);
	if (!info)
		return -ENOMEM;
	*ret_info = info;
	return 0;
}

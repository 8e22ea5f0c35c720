/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind rules of mapped files: in the arena for the kernel half, and one by one for walks that are finished here.
 *
 *	file is mapped by a sampled process	slot in the object table, empty: a walk that comes there goes on in the agent
 *	a walk came there			the agent looks single rules up in the file, and wants the table
 *	worker has built the table		copied into the arena; one write to the slot publishes it
 *	memory is needed			the table used longest ago is withdrawn, never one in use
 *
 * Files whose tables are the same, byte by byte (told by a keyed digest of what was built, never by a build id, which anyone can write into
 * a file), share one place in the arena, across containers. What finds no room is not an error: its samples are finished here for
 * as long as they come.
 *
 * Loop thread only, but for the building.
 */
#ifndef XAGENT_AGENT_UNWIND_OBJECT_TABLES_H
#define XAGENT_AGENT_UNWIND_OBJECT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/telemetry/telemetry.h"
#include "agent/unwind/kernel_arena.h"
#include "agent/unwind/object_build.h"
#include "agent/util/cleanup.h"
#include "agent/util/worker.h"
#include "bpf/rule.h"

/* A table that a walk came by so recently is not withdrawn for another one: what does not fit is better left to the walk in user space than moved in and out
 * all the time. */
#define OBJECT_TABLES_KEEP_NS (10ULL * 1000000000ULL)
/* A file that found no room, or could not be read, is tried again after this. */
#define OBJECT_TABLES_RETRY_NS (30ULL * 1000000000ULL)
/* … or after this, where that tells nothing of the file (reader_is_passing): until then its stacks are cut. */
#define OBJECT_TABLES_PASSING_NS (200ULL * 1000000ULL)
/* A file that no sampled process maps any more is forgotten after this: programs that are started again and again stay. */
#define OBJECT_TABLES_IDLE_NS (120ULL * 1000000000ULL)
/* And of such files, the ones used longest ago beyond this number at once: each holds a descriptor, and a host that compiles has hundreds of
 * new ones a second. */
#define OBJECT_TABLES_MAX_IDLE 512
/* Files whose rules are looked up in them at a time: some kilobytes each, a hundred where there is no unwind information. */
#define OBJECT_TABLES_MAX_OPENED 128

struct object_tables_options {
	int objects_fd; /* borrowed BPF map of struct wire_object; −1: plain memory */
	uint32_t max_objects;
	uint32_t *
		epoch; /* mapped, read by each walk: raised behind whatever happens to a slot. NULL: none */
	struct kernel_arena *arena;
	size_t max_table_bytes; /* of all tables together */
	size_t max_build_bytes; /* what building one may take */
	size_t max_opened;	/* 0: OBJECT_TABLES_MAX_OPENED */
	struct worker *worker;
	struct process_table *processes; /* opens files */
	struct telemetry *telemetry;	 /* all borrowed */
};

struct object_tables;

int object_tables_new(const struct object_tables_options *o, struct object_tables **ret_tables);
/* No build may be under way: see object_tables_stop(). NULL-safe. */
void object_tables_free(struct object_tables *t);
DEFINE_CLEANUP(struct object_tables *, object_tables_free);
/* Starts no more builds. */
void object_tables_stop(struct object_tables *t);

/* The slot of a file, for struct wire_mapping; held until it is given back as often. WIRE_OBJECT_ABSENT when there is none left: that is
 * not to be given back. */
uint32_t object_tables_hold(struct object_tables *t, struct mapped_file *f);
void object_tables_give(struct object_tables *t, struct mapped_file *f);

/* The rule at an offset of a file that p maps, from the arena or from the file itself. RULE_CFA_NONE when nothing is known, also when
 * the file cannot be opened. `wanted`: a walk stopped for want of the table. 0; -EAGAIN: it is not known at the moment. */
int object_tables_rule(struct object_tables *t, struct process *p, struct mapped_file *f,
		       uint64_t file_off, bool wanted, struct unwind_rule *ret_rule);
/* Where the caller's value of a register that calls preserve is: the rule's members for the frame pointer speak of it. */
void object_tables_register(struct object_tables *t, struct process *p, struct mapped_file *f,
			    uint64_t file_off, uint8_t reg, struct unwind_rule *ret_rule);
/* Bytes of code at an offset; 0, or -errno. */
int object_tables_code(struct object_tables *t, struct process *p, struct mapped_file *f,
		       uint64_t file_off, void *dst, size_t n);
/* A walk came by the file. */
void object_tables_touch(struct object_tables *t, uint32_t file_id);

/* Places what was built, starts the next build, forgets what is idle. Call ten times a second. */
void object_tables_tick(struct object_tables *t, uint64_t now_ns);

/* What is known of a file, for people. */
enum object_state {
	OBJECT_IDLE,	/* nobody came by */
	OBJECT_WANTED,	/* in the queue, or being built */
	OBJECT_LOADED,	/* in the arena */
	OBJECT_NO_ROOM, /* does not fit into the memory limit; tried again later */
	OBJECT_UNREADABLE,
	OBJECT_STATE_MAX
};

struct object_tables_stats {
	uint32_t n_files;
	uint32_t n_by_state[OBJECT_STATE_MAX];
	uint32_t n_tables; /* shared ones once */
	uint64_t table_bytes;
	uint64_t n_rows;
};
void object_tables_stats(const struct object_tables *t, struct object_tables_stats *ret_stats);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half's tables of runtimes: which files hold one, which processes have mapped such a file, and which executables are such files, for
 * processes that end before they are looked at.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_RUNTIMES_RUNTIME_TABLES_H
#define XAGENT_AGENT_RUNTIMES_RUNTIME_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/process/process.h"
#include "agent/runtimes/runtime.h"
#include "agent/util/cleanup.h"

/* Files: a host has a few interpreters, in as many containers. The one that a process had longest ago makes room. */
#define RUNTIME_TABLES_MAX_FILES 1024
/* Executables that the kernel half has (bpf/maps.bpf.h). */
#define RUNTIME_TABLES_MAX_IMAGES 1024

struct runtime_tables;

/* BPF maps, borrowed (bpf/maps.bpf.h). */
struct runtime_tables_options {
	int runtimes_fd;
	int images_fd;
	int libraries_fd;
};

int runtime_tables_new(const struct runtime_tables_options *o, struct runtime_tables **ret_tables);
void runtime_tables_free(struct runtime_tables *t);
DEFINE_CLEANUP(struct runtime_tables *, runtime_tables_free);

/* The file holds this runtime. 0; 1 when another file has made room, which is to be found again; -ENOMEM. */
int runtime_tables_add(struct runtime_tables *t, const struct mapped_file *f,
		       const struct runtime_file *found);
/* +1 with each file that was added: who was looked at before may have a runtime by now. */
uint32_t runtime_tables_epoch(const struct runtime_tables *t);

/* Which files with runtimes the process has mapped, and which ones that add to them; 0: none. Any other number tells them from others. */
uint64_t runtime_tables_files(struct runtime_tables *t, const struct process *p);
/* Before the process is published (agent/unwind/tables.h): tells the kernel half which runtimes it has mapped, one that has a list of frames and one
 * that generates code at most. The kind of the first; RUNTIME_NONE: it has none, or that could not be told. *ret_all: all that it has could be told. */
enum runtime_kind runtime_tables_publish(struct runtime_tables *t, const struct process *p,
					 bool *ret_all);
/* What was published of a process's runtime of this kind, if it has one. */
bool runtime_tables_of(const struct runtime_tables *t, uint32_t pid, enum runtime_kind kind,
		       struct wire_runtime *ret_runtime);
/* What the file of a process's runtime of this kind tells, with the base that it has in the process; false: it has mapped none. */
bool runtime_tables_file_of(struct runtime_tables *t, const struct process *p,
			    enum runtime_kind kind, struct wire_runtime *ret_runtime);
/* Processes with this number of an executable (struct wire_user_unwound) run the file at that path, which p has mapped. Nothing happens where it holds no runtime. */
void runtime_tables_publish_image(struct runtime_tables *t, const struct process *p,
				  const char *exe_path, uint64_t image);
/* … and with this number of a library the file that p has mapped at `text`. */
void runtime_tables_publish_library(struct runtime_tables *t, const struct process *p,
				    uint64_t text, uint64_t image);
void runtime_tables_retract(struct runtime_tables *t, uint32_t pid);

#endif

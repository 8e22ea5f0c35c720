/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that processes map, each once.
 *
 * A file nobody maps any more is kept for a while, with its id and descriptor, so that a program
 * that is started fifty times a second stays one object with its symbols. An open descriptor also
 * keeps the inode number from being given to another file.
 */
#ifndef XAGENT_AGENT_PROCESS_FILE_TABLE_H
#define XAGENT_AGENT_PROCESS_FILE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/process/mapping.h"
#include "agent/util/cleanup.h"
#include "agent/util/str.h"

/* Unreferenced files kept: the distinct binaries of a build host's minutes, at about 300 bytes
 * each. */
#define FILE_TABLE_MAX_IDLE 4096
/* … of which so many keep their descriptor; beyond it the one idle for longest is closed. Half of
 * the usual soft RLIMIT_NOFILE. */
#define FILE_TABLE_MAX_IDLE_FDS 512
/* All files, referenced ones included: three times the distinct ELF files of the largest hosts. */
#define FILE_TABLE_MAX_FILES 65536

/* Of a file's content, to be compared. */
#define FILE_TABLE_PRINT_BYTES 1024

struct file_table_options {
	size_t max_files;    /* 0: FILE_TABLE_MAX_FILES */
	size_t max_idle;     /* 0: FILE_TABLE_MAX_IDLE */
	size_t max_idle_fds; /* 0: FILE_TABLE_MAX_IDLE_FDS */
	uint32_t max_id;     /* 0: WIRE_MAX_OBJECT_ID */
};

int file_table_new(const struct file_table_options *o, struct file_table **ret_table);
/* Files that are still referenced live on without the table. NULL-safe. */
void file_table_free(struct file_table *t);
DEFINE_CLEANUP(struct file_table *, file_table_free);

/* What is known of a file when it is seen in a process. */
struct file_facts {
	struct file_key key;
	uint64_t generation; /* of the inode; 0: not known */
	struct str path;     /* copied when the file is new, or when it had no path */
	bool deleted;
	bool vdso; /* key is not looked at */
	/* CLOCK_MONOTONIC: when it was mapped so, by an event; 0: it is now. */
	uint64_t mapped_ns;
};

/* A new reference to the file, known or made. A remembered open error is forgotten, since another
 * process maps it now. -ENOSPC when max_files or max_id files are alive, -ENOMEM. */
int file_table_get(struct file_table *t, const struct file_facts *facts,
		   struct mapped_file **ret_file);

/* Gives `f` its descriptor (consumed). It is closed with the file, or when it is idle for longest
 * among FILE_TABLE_MAX_IDLE_FDS. */
void mapped_file_take_fd(struct mapped_file *f, int fd);

/* The same for its debug file's descriptor, when it has its own. */
void mapped_file_take_debug_fd(struct mapped_file *f, int fd);

/* What memory without a file is called, once for all mappings: made valid UTF-8 and cut to FILE_TABLE_NAME_BYTES. Lives as long as the
 * table. NULL for "", and when FILE_TABLE_MAX_NAMES others are known. */
#define FILE_TABLE_NAME_BYTES 80 /* ANON_VMA_NAME_MAX_LEN of the kernel */
#define FILE_TABLE_MAX_NAMES 256 /* programs give dozens */
const char *file_table_name(struct file_table *t, struct str name);

/* True when its content is not what it was when it was opened: nothing is to be named by it. A compiler may write its output into the same
 * inode again. */
bool mapped_file_is_rewritten(const struct mapped_file *f);

size_t file_table_n(const struct file_table *t);
size_t file_table_n_idle(const struct file_table *t);

#endif

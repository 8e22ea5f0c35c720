/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One mapped file: under which path and build id its frames are shown, and the symbols in it, which it may share with files of the
 * same content.
 */
#ifndef XAGENT_AGENT_SYMBOL_OBJECT_H
#define XAGENT_AGENT_SYMBOL_OBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "agent/object/names/name_digest.h"
#include "agent/process/mapping.h"
#include "agent/symbol/frame.h"
#include "agent/symbol/shared_elf_symbols.h"

enum object_outcome {
	OBJECT_NO_NAME = 1,
	OBJECT_MALFORMED, /* ELF, but garbage; said once, then OBJECT_NO_NAME */
	OBJECT_OUTCOME_MAX
};

/* By which a file is known to be as it was. */
struct file_stamp {
	dev_t dev;
	ino_t ino;
	off_t size_bytes;
	struct timespec mtime;
	struct timespec ctime;
};

struct object {
	struct hash_node node; /* object_symbols' */
	struct list lru;       /* object_symbols' */
	uint32_t id;	       /* of the mapped_file, with its key */
	struct file_key key;

	struct frame_object frame_object;
	const char *basename; /* in frame_object.path */
	char *path;	      /* owned */
	char *build_id;	      /* owned; NULL: none yet */

	uint64_t interval;	 /* that it was last used in */
	bool is_known;		 /* stamp is set */
	bool has_debug;		 /* debug_stamp is set */
	uint64_t bad_ns;	 /* since when it is known to be no usable ELF file; 0: it is not */
	struct file_stamp stamp; /* of the file that all below was read from */
	struct file_stamp debug_stamp;	 /* … and of its debug file */
	struct elf_symbols *elf_symbols; /* a user's; NULL: not read */
};

/* What reading a file needs besides. */
struct object_context {
	struct shared_elf_symbols *shared_elf_symbols;
	const struct siphash_key *key;
	bool with_lines;
	uint64_t now_ns;
};

int object_new(const struct mapped_file *file, struct object **ret_object);
/* Not in any list or table any more. NULL-safe. */
void object_free(struct object *object, struct shared_elf_symbols *shared_elf_symbols);

/* Bytes held, without the shared symbols. */
size_t object_bytes(const struct object *object);

/* At the first use in an interval, when no frame points here: forgets what was read if the file has changed, or another debug file is
 * there, or if it is long ago that there was nothing. */
void object_revalidate(struct object *object, const struct mapped_file *file,
		       const struct object_context *context);
/* Reads headers, or finds the symbols of equal content, where that is missing. 0, OBJECT_NO_NAME, OBJECT_MALFORMED, -errno (try again
 * later). */
int object_load(struct object *object, const struct mapped_file *file,
		const struct object_context *context);

/* The address as linked; false when that is not known. Needs no index. */
bool object_vaddr(const struct object *object, uint64_t file_off, uint64_t *ret_vaddr);

#endif

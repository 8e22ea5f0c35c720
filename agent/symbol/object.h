/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of one mapped file: its headers, its symbol index, and the functions named so far.
 *
 * Names of functions are made once and kept, also that there is none. The index can be dropped and
 * built anew at any time; names cannot, since frames point to them: that is for object_symbols to
 * time.
 */
#ifndef XAGENT_AGENT_SYMBOL_OBJECT_H
#define XAGENT_AGENT_SYMBOL_OBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "agent/object/demangle.h"
#include "agent/object/elf.h"
#include "agent/object/symtab.h"
#include "agent/process/mapping.h"
#include "agent/symbol/frame.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"

enum object_outcome {
	OBJECT_NO_NAME = 1,
	OBJECT_MALFORMED, /* ELF, but garbage; said once, then OBJECT_NO_NAME */
	OBJECT_OUTCOME_MAX
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

	uint64_t interval;     /* that it was last used in */
	bool is_known;	       /* stat is set */
	bool is_bad;	       /* no usable ELF file */
	struct stat stat;      /* of the file that all below was read from */
	struct elf *elf;       /* segments only; NULL: not read */
	struct symtab *symtab; /* NULL: not built, or dropped */
	struct hash_table functions;
	size_t function_bytes;
};

int object_new(const struct mapped_file *file, struct object **ret_object);
void object_free(struct object *object); /* NULL-safe; not in any list or table any more */
DEFINE_CLEANUP(struct object *, object_free);

/* Bytes held. */
size_t object_bytes(const struct object *object);

/* At the first use in an interval, when no frame points here: forgets what was read if the file has
 * changed. */
void object_revalidate(struct object *object, const struct mapped_file *file);
/* Reads headers and index where they are missing. 0, OBJECT_NO_NAME, OBJECT_MALFORMED, -errno (try
 * again later). */
int object_load(struct object *object, const struct mapped_file *file);
void object_drop_symtab(struct object *object);
void object_drop_functions(struct object *object);

/* The address as linked; false when that is not known. Needs no index. */
bool object_vaddr(const struct object *object, uint64_t file_off, uint64_t *ret_vaddr);
/* The function at an address; the object must be loaded. Borrowed from the object. 0,
 * OBJECT_NO_NAME, -errno. */
int object_function(struct object *object, const struct mapped_file *file, uint64_t vaddr,
		    enum demangle_mode mode, const char **ret_name);

#endif

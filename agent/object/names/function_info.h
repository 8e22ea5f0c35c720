/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of one object's functions, by all the sources that there are, in the order of their trust:
 *
 *	Go's tables → .symtab with .dynsym → .symtab of the debug file → .gnu_debugdata → .dynsym → glibc's jumps → V8's builtins → debug file from a server
 *
 * The first that covers an address names it. What has no size is a guess, and stands only where no source knows better or has anything
 * in between, and unwind information has no function that begins in between. Sources are made when those before them had no answer, and can be dropped at any time: answers do not need them.
 *
 * One thread at a time.
 */
#ifndef XAGENT_AGENT_OBJECT_NAMES_FUNCTION_INFO_H
#define XAGENT_AGENT_OBJECT_NAMES_FUNCTION_INFO_H

#include "agent/object/elf.h"
#include "agent/object/names/function_extents.h"
#include "agent/object/names/function_source.h"

enum function_kind {
	FUNCTION_KIND_GO,
	FUNCTION_KIND_SYMTAB,
	FUNCTION_KIND_DEBUG_FILE,
	FUNCTION_KIND_DEBUGDATA,
	FUNCTION_KIND_DYNSYM,
	FUNCTION_KIND_LIBC,
	FUNCTION_KIND_V8,
	FUNCTION_KIND_FETCHED,
	FUNCTION_KIND_MAX
};

/* As people know it: ".symtab". */
const char *function_kind_title(enum function_kind kind);

/* Borrowed from the caller; NULL where there is none, or none yet. */
struct function_files {
	struct elf *elf;
	struct elf *debug;
	struct elf *fetched;
	size_t max_bytes; /* of what has to be unpacked */
};

struct function_info;

/* Nothing is read yet. 0 or -ENOMEM. */
int function_info_new(struct function_info **ret_info);
void function_info_free(struct function_info *info); /* NULL-safe */
DEFINE_CLEANUP(struct function_info *, function_info_free);

/* What sources hold. */
size_t function_info_bytes(const struct function_info *info);
bool function_info_is_loaded(const struct function_info *info);
/* Gives all sources back; which of them there are not stays known. Before a file of theirs is freed. */
void function_info_drop(struct function_info *info);
/* Looks again for those that were not there. */
void function_info_forget(struct function_info *info);

struct function_answer {
	struct function_piece piece; /* narrowed to where all sources' answers are the same */
	enum function_kind kind;
};

enum function_info_outcome {
	FUNCTION_INFO_NONE = 1, /* nobody has a name; begin and end of the piece are set */
	FUNCTION_INFO_OUTCOME_MAX
};

/* 0, FUNCTION_INFO_NONE, -errno. */
int function_info_find(struct function_info *info, const struct function_files *files,
		       uint64_t vaddr, struct function_answer *ret_answer);
/* Appends the name, as linked. At once after find(). 0, FUNCTION_INFO_NONE, -errno. */
int function_info_name(struct function_info *info, const struct function_answer *answer,
		       struct buf *name);

/* Where nobody has a name: from where to where the function reaches all the same. 0, FUNCTION_INFO_NONE, -errno. */
int function_info_extent(struct function_info *info, const struct function_files *files,
			 uint64_t vaddr, struct function_extent *ret_extent);

/* File, line and inlined functions by the sources that have such, where these are made. 0, FUNCTION_INFO_NONE, -errno. */
int function_info_frames(struct function_info *info, const struct function_files *files,
			 uint64_t vaddr, struct arena *strings, struct source_frames *ret_frames);

/* One source alone, for looking at it: NULL when there is none. Borrowed until dropped. 0, -errno. */
int function_info_source(struct function_info *info, const struct function_files *files,
			 enum function_kind kind, struct function_source **ret_source);

#endif

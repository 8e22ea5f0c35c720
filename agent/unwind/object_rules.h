/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of one mapped file, looked up one by one in the file: used by walks that are finished in the agent. Takes microseconds a look-up and a few
 * kilobytes a file.
 */
#ifndef XAGENT_AGENT_UNWIND_OBJECT_RULES_H
#define XAGENT_AGENT_UNWIND_OBJECT_RULES_H

#include "agent/object/elf.h"
#include "agent/object/rules/unwind_info.h"
#include "agent/process/process.h"

struct object_rules;

/* The bytes of an opened file, or of the vDSO. 0 or -errno. */
int object_bytes_open(const struct mapped_file *f, struct bytes *ret_bytes);

/* `f`, mapped by p, is opened, and borrowed until free. *debug_fd is its debug file's, borrowed likewise; where it is −1 the file is
 * looked for, and the descriptor, DEBUG_ELF_NONE or DEBUG_ELF_LATER left there for the caller to keep. A file that is not ELF, or of another machine, has no rules. 0 or
 * -errno. */
int object_rules_new(const struct process *p, const struct mapped_file *f, int *debug_fd,
		     struct object_rules **ret_rules);
void object_rules_free(struct object_rules *r); /* NULL-safe */
DEFINE_CLEANUP(struct object_rules *, object_rules_free);

/* 0 or -errno. */
int object_rules_at(struct object_rules *r, uint64_t file_off, struct unwind_rule *ret_rule);
/* Where a further register of the caller is (unwind_info_register_at). 0 or -errno. */
int object_rules_register_at(struct object_rules *r, uint64_t file_off, uint8_t reg,
			     struct unwind_rule *ret_rule);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the object tables share: object_tables.c (slots, look-ups), object_loading.c (which table is in the arena). */
#ifndef XAGENT_AGENT_UNWIND_OBJECT_TABLES_PRIVATE_H
#define XAGENT_AGENT_UNWIND_OBJECT_TABLES_PRIVATE_H

#include "agent/unwind/object_build.h"
#include "agent/unwind/object_rules.h"
#include "agent/unwind/object_tables.h"
#include "agent/unwind/slots.h"
#include "agent/util/hash.h"
#include "agent/util/list.h"
#include "agent/util/siphash.h"

/* A table in the arena, of all files whose rules are the same. */
struct shared_table {
	struct wire_object object;
	uint64_t n_bytes;
	uint64_t n_rows;
	uint64_t used_ns; /* a walk came by one of its files */
	unsigned int n_files;
	uint64_t digest; /* object_build's */
	struct list lru; /* the one used longest ago first */
};

struct object_entry {
	struct mapped_file *file; /* a reference */
	uint32_t slot;		  /* WIRE_OBJECT_ABSENT: there was none left */
	uint32_t serial;	  /* never the same for two entries */
	enum object_state state;
	unsigned int n_holds; /* mapping arrays that name the slot */
	uint64_t used_ns;
	uint64_t retry_ns;     /* of OBJECT_NO_ROOM and OBJECT_UNREADABLE */
	int error;	       /* of OBJECT_UNREADABLE: why it is not tried before, −errno */
	uint64_t needed_bytes; /* of OBJECT_NO_ROOM: its table's; UINT64_MAX: it cannot be built */
	struct shared_table *table; /* OBJECT_LOADED */
	struct object_rules *rules; /* NULL: not opened */
	int debug_fd; /* of its debug file, when it needs one and `rules` was opened; −1; DEBUG_ELF_* */
	uint64_t debug_again_ns; /* of DEBUG_ELF_LATER; 0: it was never put off */
	struct hash_node node;
	struct list wanted; /* in the queue of builds */
	struct list opened; /* in the order of use of `rules` */
};

/* Looking a rule up in the file takes microseconds, and callers' addresses come again and again: 160 KiB of them are kept. */
#define RULE_CACHE_ENTRIES 4096

struct cached_rule {
	uint32_t serial; /* of the entry; 0: empty */
	uint64_t file_off;
	struct unwind_rule rule;
};

struct object_tables {
	struct object_tables_options options;
	struct wire_object *objects; /* the object table, mapped */
	struct slots slots;
	struct hash_table entries; /* by file id */
	struct list wanted;
	struct list opened;
	size_t n_opened;
	struct list tables; /* shared_table.lru */
	uint64_t table_bytes;
	uint32_t last_serial;
	uint32_t last_publication;
	uint64_t now_ns; /* of the last tick */
	uint64_t swept_ns;
	bool stopped;
	struct object_entry *building;
	struct object_build *built; /* waits for room that has been made */
	struct cached_rule *cache;
	struct siphash_key key;
};

/* object_tables.c */
/* Opens the file and its rules. 0 or -errno; then the entry is OBJECT_UNREADABLE for as long as the file cannot be opened, or for a while when
 * it cannot be read. */
int object_entry_open(struct object_tables *t, struct process *p, struct object_entry *e);

/* object_loading.c */
/* It has no table, nor will have without being asked for, and asking makes sense now. */
bool object_entry_may_want(const struct object_tables *t, const struct object_entry *e);
/* It could not be read, for that reason. */
void object_entry_put_off(struct object_tables *t, struct object_entry *e, int error);
/* Puts the entry into the queue, when there may be room. `e` is opened, and may be wanted. */
void object_entry_want(struct object_tables *t, struct object_entry *e);
/* Withdraws what the kernel half has of it. */
void object_entry_unload(struct object_tables *t, struct object_entry *e);
void object_table_touch(struct object_tables *t, struct shared_table *table);
void object_loading_tick(struct object_tables *t);

#endif

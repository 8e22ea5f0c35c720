/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the readers share, and nobody else. */
#ifndef XAGENT_AGENT_UTIL_READER_PRIVATE_H
#define XAGENT_AGENT_UTIL_READER_PRIVATE_H

#include <sys/stat.h>

#include "agent/util/reader.h"

/* Numbers that differ between those who are to blame; 0: nobody is known. */
struct reader_blame {
	uint64_t who;	/* user, user namespace, control group or device */
	uint64_t place; /* control group */
};

/* Reads /proc only, and no file there that may wait. `proc_root` is /proc but in tests. Of those that are gone `who` is the same, not 0. */
struct reader_blame reader_blame_of_process(const char *proc_root, uint32_t pid);
/* As reader_blame_device() was told; the device itself when it was not, or was of more than one. Any thread. */
struct reader_blame reader_blame_of_device(dev_t dev);

/* One lost call. */
struct reader_lost {
	bool is_used;
	struct reader_subject subject;
	struct reader_blame blame;
	uint64_t begin_ns; /* when it was lost */
	bool is_said;
	uint64_t retry_ns; /* when another one for that subject is tried */
	uint64_t wait_ns;  /* … after so long the next time */
};

/* A call that somebody waits for, and that may be lost as well. */
struct reader_running {
	struct reader_running *next;
	struct reader_blame blame;
	bool is_blamed; /* the above is known; else it may be anybody's */
};

/* All 0: none. Pure; the caller holds the lock. */
struct reader_losses {
	struct reader_lost items[READER_MAX_LOST];
	uint32_t n;
	struct reader_running *running; /* the last one first; borrowed */
};

enum reader_verdict {
	READER_ADMITTED,
	READER_AVOIDED, /* because of calls that were lost */
	READER_CROWDED, /* if those that run were lost, too, there would be too many: it may be admitted when one of them returns */
};

/* Whether there may be one more call. A subject that is tried again has to wait longer the next time. */
enum reader_verdict reader_losses_admit(struct reader_losses *l,
					const struct reader_subject *subject,
					const struct reader_blame *blame, uint64_t now_ns);
/* Around a call that was admitted. */
void reader_losses_enter(struct reader_losses *l, struct reader_running *running);
void reader_losses_leave(struct reader_losses *l, struct reader_running *running);
/* There is room for it when it was admitted. */
struct reader_lost *reader_losses_add(struct reader_losses *l, const struct reader_subject *subject,
				      const struct reader_blame *blame, uint64_t now_ns);
void reader_losses_remove(struct reader_losses *l, struct reader_lost *lost);
/* One that has been lost for READER_SAY_NS, each of them once; NULL: there is none. It is there until the lock is let go. */
const struct reader_lost *reader_losses_to_say(struct reader_losses *l, uint64_t now_ns);

/* Runs fn(data) in a task that is no thread of this process, but shares all with it, and waits for it; in this thread where that cannot be. */
void reader_run_apart(void (*fn)(void *data), void *data);

/* reader_cache.c. A read within one window that begins at a multiple of its size. */
#define READER_WINDOW_BYTES ((size_t)32 << 10)
/* As many of n bytes as the file has, or −1: they are not there. */
ssize_t reader_cache_get(const struct stat *st, uint64_t file_off, void *dst, size_t n);
/* file_off: of the window; n: as much of it as the file has. */
void reader_cache_put(const struct stat *st, uint64_t file_off, const void *bytes, size_t n);

/* reader_file.c: descriptors that could not be closed. */
uint32_t reader_n_to_close(void);
/* reader.c: whether this thread makes all calls itself. */
bool reader_is_in_place(void);
/* reader.c: lost calls that have returned and are freed, of all time. */
uint64_t reader_n_returned(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles that one endpoint could not take, on disk: bounded by bytes and age, and still there after a crash.
 *
 *	  put ─► write ─► waits ─► load ─► out ─► finish (gone)
 *	                    ▲                └──► put back
 *	  found at start ───┘
 *
 * Files are touched by a thread of its own, in the order in which that was asked for; the index is the loop's. A disk that fails is left alone
 * for a while, and said once; what could not be written goes back to who gave it.
 *
 * Loop thread.
 */
#ifndef XAGENT_AGENT_PUSH_SPOOL_SPOOL_H
#define XAGENT_AGENT_PUSH_SPOOL_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/push/queue.h"
#include "agent/util/loop.h"

struct spool;
struct spool_item;

/* Why a profile that was on disk is lost. */
enum spool_loss {
	SPOOL_LOSS_FULL,    /* max_bytes: the oldest go */
	SPOOL_LOSS_AGE,	    /* its deadline */
	SPOOL_LOSS_DAMAGED, /* the file was changed, or is not there any more */
};

struct spool_callbacks {
	/* It is written: the entry is the caller's to free. Else it is his again, as it was. */
	void (*put)(void *data, struct push_entry *entry, bool written);
	/* What spool_load has asked for; NULL: it was lost, which has been told. */
	void (*loaded)(void *data, struct spool_item *item, struct push_profile *profile);
	void (*lost)(void *data, enum spool_loss loss, size_t n_profile_bytes);
	/* It takes profiles, or so many were found. */
	void (*ready)(void *data, size_t n_found);
	void *data;
};

struct spool_options {
	const char *path;   /* copied */
	const char *owner;  /* of the endpoint, in the log; copied */
	uint64_t max_bytes; /* 1 MiB at least */
	uint64_t max_age_ns;
	uint64_t retry_ns; /* how long a disk that failed is left alone */
};

#define SPOOL_MIN_BYTES (UINT64_C(1) << 20)
#define SPOOL_LONGEST_AGE_NS (24 * 3600 * UINT64_C(1000000000))
#define SPOOL_RETRY_NS (5 * UINT64_C(1000000000))

/* Looks for what an earlier run has left; a directory is made when something is to be written. 0 or -errno. */
int spool_new(struct loop *loop, const struct spool_options *options,
	      const struct spool_callbacks *callbacks, struct spool **ret_spool);
/* Waits for the disk; calls nobody back. What waits stays on disk. NULL-safe. */
void spool_free(struct spool *s);
DEFINE_CLEANUP(struct spool *, spool_free);

/* Whether it would take one. Where it is not open, it tries to be: `ready` says so. */
bool spool_takes(struct spool *s);
/* Larger ones it never takes. */
size_t spool_max_profile_bytes(const struct spool *s);
/* `put` tells how it went. False: no memory, the entry is the caller's. */
bool spool_put(struct spool *s, struct push_entry *entry);
/* Waits until all that is under way is told. */
void spool_drain(struct spool *s);

/* Whether there is one that waits. */
bool spool_has(const struct spool *s);
/* Reads one: the newest; every fourth is the oldest, and every eighth one that was out before, so that none starves. False: no memory. */
bool spool_load(struct spool *s);
/* For later; as it was, or with one attempt more. */
void spool_put_back(struct spool *s, struct spool_item *item, unsigned int n_attempts);
/* It need not be found again. */
void spool_finish(struct spool *s, struct spool_item *item);
unsigned int spool_item_attempts(const struct spool_item *item);

/* Loses those whose deadline has passed; looks once a second. */
void spool_drop_late(struct spool *s, uint64_t now_ns);

struct spool_stats {
	size_t n;	    /* that wait or are out */
	uint64_t n_bytes;   /* of files */
	size_t n_under_way; /* to be written or read */
	uint64_t oldest_ns; /* real time; 0: there is none */
	bool open, failing;
};
void spool_stats_get(const struct spool *s, struct spool_stats *ret_stats);

#endif

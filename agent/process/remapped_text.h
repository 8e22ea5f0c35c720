/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anonymous executable memory that may hold the text of a file.
 *
 * Programs that want huge pages for their code copy it to memory without a file, at the same
 * addresses. A claim says of such memory which part of which file it may be. Nothing follows from a
 * claim before the bytes were compared (process_text.c): a JIT's memory lies at such places, too.
 *
 * Claims come from two sides: a file's text in a set of mappings that anonymous memory is put over
 * (remapped_texts_cover), and the lines of /proc/PID/maps, where the memory lies beside mappings of
 * the file (struct text_scan).
 */
#ifndef XAGENT_AGENT_PROCESS_REMAPPED_TEXT_H
#define XAGENT_AGENT_PROCESS_REMAPPED_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/process/maps.h"

/* The program's text and that of some libraries, each by up to two guesses. */
#define REMAPPED_TEXTS_MAX 8

/* A range and where in a file its first byte may be. */
struct text_guess {
	uint64_t begin;
	uint64_t end;
	uint64_t file_off; /* of begin */
};

struct remapped_text {
	struct text_guess guess;
	struct mapped_file *file; /* a reference */
	/* A mapping of the file, by which it can be opened; empty: none is known. */
	uint64_t beside_begin;
	uint64_t beside_end;
	/* Compared so often without success, and not to be compared again before. */
	unsigned int n_tries;
	uint64_t due_ns;
};

struct remapped_texts {
	unsigned int n;
	struct remapped_text items[REMAPPED_TEXTS_MAX];
};

/* 0 or -ENOMEM. */
int remapped_texts_new(struct remapped_texts **ret_claims);
void remapped_texts_free(struct remapped_texts *c); /* NULL-safe */
DEFINE_CLEANUP(struct remapped_texts *, remapped_texts_free);

/* With references of its own. 0 or -ENOMEM. */
int remapped_texts_copy(const struct remapped_texts *from, struct remapped_texts **ret_claims);

/* Consumes claim->file. Where it goes on with what another claims of the same file, they become
 * one, to be compared anew. The oldest gives way when there is no room. */
void remapped_texts_add(struct remapped_texts *c, const struct remapped_text *claim);
void remapped_texts_remove(struct remapped_texts *c, unsigned int at);

/* Something else is in [begin, end) now. NULL-safe. */
void remapped_texts_drop(struct remapped_texts *c, uint64_t begin, uint64_t end);
/* What is in [begin, end) has changed: compared again, soon. NULL-safe. */
void remapped_texts_renew(struct remapped_texts *c, uint64_t begin, uint64_t end);

/* Whether the set holds text of a file in [begin, end). NULL-safe, O(log n) where it does not. */
bool mappings_hold_text(const struct mappings *set, uint64_t begin, uint64_t end);
/* Anonymous memory takes the place of what the set holds in [begin, end): claims each part that is
 * a file's. */
void remapped_texts_cover(struct remapped_texts *c, const struct mappings *set, uint64_t begin,
			  uint64_t end);

/* The one whose turn it is, or REMAPPED_TEXTS_MAX. */
unsigned int remapped_texts_due(const struct remapped_texts *c, uint64_t now_ns);

/* What a maps entry says of its file. */
struct text_neighbour {
	bool there;
	bool executable;
	uint64_t begin;
	uint64_t end;
	uint64_t file_off;
	uint64_t dev;
	uint64_t inode;
};

/* What was seen of the maps so far. Starts as { .page = the page size }, with fn and data. */
struct text_scan {
	uint64_t page;
	/* `file` is an entry of the file, with its path, as maps tell it. */
	void (*fn)(const struct text_guess *guess, const struct maps_entry *file, void *data);
	void *data;

	/* private */
	struct text_neighbour before; /* the last mapping of a file */
	struct text_guess run;	      /* anonymous executable memory behind it; empty: none */
	bool run_beside;	      /* the run begins where `before` ends */
	bool deleted;
	size_t n_path;
	char path[MAPPING_PATH_MAX];
};

/* Entries in ascending order, those of files that are not executable, too; NULL at the end. */
void text_scan_entry(struct text_scan *s, const struct maps_entry *e);

#endif

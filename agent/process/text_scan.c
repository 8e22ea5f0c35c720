/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims on anonymous memory: what the lines of /proc/PID/maps say.
 *
 * A file's mappings lie in the order of its segments. Where one of them is anonymous now, those
 * beside it tell which part of the file is missing. Within a segment addresses and offsets go on
 * together. Between two segments a linker may have placed a page of the file in both: then the
 * offset behind the border is one page less than the one before it.
 */
#include <string.h>

#include "agent/process/remapped_text.h"

static struct text_neighbour neighbour(const struct maps_entry *e)
{
	return (struct text_neighbour){
		.there = true,
		.executable = e->executable,
		.begin = e->begin,
		.end = e->end,
		.file_off = e->file_off,
		.dev = e->dev,
		.inode = e->inode,
	};
}

static void guess(const struct text_scan *s, uint64_t file_off, const struct maps_entry *file)
{
	struct text_guess g = { s->run.begin, s->run.end, file_off };

	/* Offsets of files are positive numbers of type off_t. */
	if (file_off + (g.end - g.begin) <= INT64_MAX && file_off <= INT64_MAX)
		s->fn(&g, file, s->data);
}

static struct maps_entry entry_before(const struct text_scan *s)
{
	return (struct maps_entry){
		.begin = s->before.begin,
		.end = s->before.end,
		.file_off = s->before.file_off,
		.dev = s->before.dev,
		.inode = s->before.inode,
		.kind = MAPPING_FILE,
		.path = { s->path, s->n_path },
		.deleted = s->deleted,
		.executable = s->before.executable,
	};
}

static bool same_file(const struct text_neighbour *a, const struct text_neighbour *b)
{
	return a->dev == b->dev && a->inode == b->inode;
}

static uint64_t off_by_next(const struct text_scan *s, const struct text_neighbour *next)
{
	return next->file_off - (s->run.end - s->run.begin);
}

/* True when no other guess is needed. */
static bool guess_by_before(const struct text_scan *s, const struct text_neighbour *next)
{
	struct maps_entry file = entry_before(s);
	uint64_t off = s->before.file_off + (s->run.begin - s->before.begin);
	bool same = next->there && same_file(&s->before, next);
	bool sure = s->before.executable || (same && off_by_next(s, next) == off);

	guess(s, off, &file);
	if (!sure)
		guess(s, off - s->page, &file);
	return sure || same;
}

/* Wraps round where less of the file is before it, which is no offset. */
static void guess_by_next(const struct text_scan *s, const struct maps_entry *next)
{
	struct text_neighbour n = neighbour(next);
	uint64_t off = off_by_next(s, &n);

	guess(s, off, next);
	if (!next->executable)
		guess(s, off + s->page, next);
}

/* Nothing more belongs to the run; `next` begins where it ends, or is NULL. */
static void end_run(struct text_scan *s, const struct maps_entry *next)
{
	struct text_neighbour n = next ? neighbour(next) : (struct text_neighbour){ 0 };
	bool settled = s->run_beside && guess_by_before(s, &n);

	if (!settled && next)
		guess_by_next(s, next);
	s->run = (struct text_guess){ 0 };
}

static void take_anonymous(struct text_scan *s, const struct maps_entry *e)
{
	if (s->run.end == e->begin && s->run.end > 0) {
		s->run.end = e->end;
		return;
	}
	if (s->run.end > 0)
		end_run(s, NULL);
	s->run = (struct text_guess){ .begin = e->begin, .end = e->end };
	s->run_beside = s->before.there && s->before.end == e->begin;
}

void text_scan_entry(struct text_scan *s, const struct maps_entry *e)
{
	if (e && e->kind == MAPPING_ANON) {
		take_anonymous(s, e);
		return;
	}
	bool is_file = e && e->kind == MAPPING_FILE;
	if (s->run.end > 0)
		end_run(s, is_file && e->begin == s->run.end ? e : NULL);
	s->before = is_file ? neighbour(e) : (struct text_neighbour){ 0 };
	if (!is_file)
		return;
	s->deleted = e->deleted;
	s->n_path = e->path.n;
	memcpy(s->path, e->path.p, e->path.n);
}

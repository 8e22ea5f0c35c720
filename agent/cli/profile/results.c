/* SPDX-License-Identifier: Apache-2.0 */
/* The result of `xagent profile`, of one event or several. */
#include "agent/cli/profile/results.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/cli/output.h"
#include "agent/draw/flame_file.h"

#define HEADING_MAX_BYTES 1024

static bool has_several(const struct results *r)
{
	return r->args->events.n > 1;
}

static bool is_split(const struct results *r)
{
	return has_several(r) && profile_format_is_of_one_event(r->args->format);
}

static int name_file(struct results *r, size_t i)
{
	_cleanup_buf_ struct buf part = BUF_INIT(HEADING_MAX_BYTES);
	_cleanup_buf_ struct buf name = BUF_INIT((size_t)4 * PATH_MAX);

	event_text_file_part(&r->args->events.items[i], &part);
	profile_format_file_of(r->args->format, r->args->output, buf_str(&part), &name);
	r->parts[i].file = part.failed || name.failed ? NULL : buf_take(&name);
	return r->parts[i].file ? 0 : -ENOMEM;
}

static int init_part(struct results *r, size_t i)
{
	int e = is_split(r) && r->args->output ? name_file(r, i) : 0;

	if (e < 0)
		return e;
	return result_init(&r->parts[i].result,
			   r->parts[i].file ? r->parts[i].file : r->args->output, r->args->format);
}

int results_init(struct results *r, const struct profile_args *args)
{
	int e = 0;

	r->args = args;
	r->n = args->events.n;
	r->parts = calloc(r->n, sizeof(*r->parts));
	if (!r->parts)
		return -ENOMEM;
	for (size_t i = 0; e == 0 && i < r->n; i++)
		e = init_part(r, i);
	return e;
}

void results_fini(struct results *r)
{
	for (size_t i = 0; r->parts && i < r->n; i++) {
		result_fini(&r->parts[i].result);
		free(r->parts[i].file);
	}
	free(r->parts);
	*r = (struct results){ 0 };
}

/* A device or a pipe. */
static bool is_no_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int results_check(const struct results *r, struct buf *why)
{
	int e = 0;

	if (!is_split(r))
		return output_check(r->args->output, why);
	if (is_no_file(r->args->output)) {
		(void)buf_printf(
			why,
			"%s is no regular file, and one %s is of one event: use -o FILE, or "
			"-f table, speedscope or otlp, which hold several",
			r->args->output, profile_format_name(r->args->format));
		return -EINVAL;
	}
	for (size_t i = 0; e == 0 && i < r->n; i++)
		e = output_check(r->parts[i].file, why);
	return e;
}

/* A tree for each event. */
static void build_graphs(const struct interval *interval, struct namer *namer, struct build *build)
{
	struct results *r = build->data;

	for (const struct series *s = interval->series; s; s = s->next) {
		size_t i = event_list_find(&r->args->events, s->event, s->source);

		if (i < r->n)
			flame_tree_add_series(&r->parts[i].result.tree, s, namer, build);
	}
}

build_fn results_build_fn(const struct results *r)
{
	return profile_format_is_graph(r->args->format) ? build_graphs
							: result_build_fn(&r->parts[0].result);
}

void *results_build_data(struct results *r)
{
	return r;
}

void results_miss(struct results *r, size_t i)
{
	r->parts[i].is_missing = true;
}

/* What the build has of an event; NULL: nothing. */
static const struct built *part_of(const struct results *r, size_t i, const struct build *build)
{
	const struct built *part = build->first;

	while (part && event_list_find(&r->args->events, part->event, part->source) != i)
		part = part->next;
	return part;
}

/* "Off-CPU time: 612 samples": a line of its own, and an empty one between two. */
static int write_table(struct results *r, size_t i, const struct built *table, struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(HEADING_MAX_BYTES);
	struct result *to = &r->parts[0].result;
	uint64_t n = table ? table->n_samples : 0;

	(void)buf_append_str(&text, to->n_files > 0 ? "\n" : "");
	event_text_what(&r->args->events.items[i], &text);
	if (r->parts[i].is_missing)
		(void)buf_append_str(&text, ": not to be had on this kernel\n");
	else
		(void)buf_printf(&text, ": %" PRIu64 " sample%s\n", n, n == 1 ? "" : "s");
	int e = result_write_text(to, buf_str(&text), why);
	return e == 0 && n > 0 ? result_write_part(to, table, why) : e;
}

static int write_tables(struct results *r, const struct build *build, struct buf *why)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < r->n; i++)
		e = write_table(r, i, part_of(r, i, build), why);
	return e;
}

static int write_split(struct results *r, const struct build *build, struct buf *why)
{
	int e = 0;

	for (const struct built *part = build->first; part && e == 0; part = part->next) {
		size_t i = event_list_find(&r->args->events, part->event, part->source);

		if (i < r->n)
			e = result_write_part(&r->parts[i].result, part, why);
	}
	return e;
}

int results_write(struct results *r, const struct build *build, struct buf *why)
{
	if (has_several(r) && r->args->format == PROFILE_TABLE)
		return write_tables(r, build, why);
	if (is_split(r))
		return write_split(r, build, why);
	return result_write(&r->parts[0].result, build, why);
}

static struct flame_facts facts_of(const struct results *r, size_t i,
				   const struct flame_facts *facts)
{
	struct flame_facts mine = *facts;

	mine.event = r->args->events.items[i];
	return mine;
}

/* All events in one file; the first part has that. */
static int end_speedscope(struct results *r, const struct flame_facts *facts, struct buf *why)
{
	struct flame_facts each[EVENT_LIST_MAX];
	struct flame_tree *trees[EVENT_LIST_MAX];
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (r->parts[i].is_missing)
			continue;
		trees[n] = &r->parts[i].result.tree;
		each[n++] = facts_of(r, i, facts);
	}
	return result_end_all(&r->parts[0].result, trees, each, n, why);
}

int results_end(struct results *r, const struct flame_facts *facts, struct buf *why)
{
	int e = 0;

	if (r->args->format == PROFILE_SPEEDSCOPE)
		return end_speedscope(r, facts, why);
	for (size_t i = 0; e == 0 && i < r->n; i++) {
		const struct flame_facts mine = facts_of(r, i, facts);

		if (!r->parts[i].is_missing)
			e = result_end(&r->parts[i].result, &mine, why);
	}
	return e;
}

unsigned int results_n_files(const struct results *r)
{
	unsigned int n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->parts[i].result.n_files;
	return n;
}

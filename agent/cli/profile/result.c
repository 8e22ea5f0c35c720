/* SPDX-License-Identifier: Apache-2.0 */
/* One file of the result of `xagent profile`. */
#include "agent/cli/profile/result.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "agent/cli/output.h"
#include "agent/draw/flame_file.h"
#include "agent/encode/folded_merge.h"

/* Of a tree, and of the file that is made of it; as much as text may take (agent/encode/folded.c). */
#define GRAPH_MAX_BYTES ((size_t)256 << 20)
#define FOLDED_MAX_BYTES GRAPH_MAX_BYTES

int result_init(struct result *r, const char *file, enum profile_format format)
{
	r->file = file;
	r->format = format;
	buf_init(&r->folded, FOLDED_MAX_BYTES);
	return profile_format_is_graph(format) ? flame_tree_init(&r->tree, GRAPH_MAX_BYTES) : 0;
}

void result_fini(struct result *r)
{
	flame_tree_fini(&r->tree);
	buf_fini(&r->folded);
	*r = (struct result){ 0 };
}

build_fn result_build_fn(const struct result *r)
{
	static const build_fn builds[PROFILE_FORMAT_MAX] = {
		[PROFILE_FOLDED] = build_folded,  [PROFILE_PPROF] = build_one_pprof,
		[PROFILE_TABLE] = build_table,	  [PROFILE_HTML] = flame_tree_build,
		[PROFILE_SVG] = flame_tree_build, [PROFILE_SPEEDSCOPE] = flame_tree_build,
		[PROFILE_OTLP] = build_otlp,
	};

	assert(r->format > PROFILE_FORMAT_UNSET && r->format < PROFILE_FORMAT_MAX);
	return builds[r->format];
}

void *result_build_data(struct result *r)
{
	return &r->tree;
}

static int write_file(struct result *r, const struct built *part, struct buf *why)
{
	_cleanup_buf_ struct buf name = BUF_INIT(PATH_MAX);
	int e = r->file ? buf_append_str(&name, r->file) : 0;

	if (e == 0 && r->n_files > 0)
		e = buf_printf(&name, ".%u", r->n_files + 1);
	if (e < 0) {
		(void)buf_printf(why, "cannot write part %u of %s: the name is too long",
				 r->n_files + 1, r->file);
		return -ENAMETOOLONG;
	}
	e = output_write(r->file ? buf_str(&name) : NULL, part->bytes, part->n_bytes, why);
	if (e == 0)
		r->n_files++;
	return e;
}

static int cannot_make(const struct result *r, int error, struct buf *why)
{
	(void)buf_printf(why, "cannot make %s of what was sampled: %s",
			 profile_format_name(r->format), strerror(-error));
	return error;
}

static int add_folded(struct result *r, const struct built *part, struct buf *why)
{
	_cleanup_buf_ struct buf old = BUF_INIT(FOLDED_MAX_BYTES);
	struct buf merged = old;
	int e = folded_merge((struct str){ r->folded.data, r->folded.len },
			     (struct str){ (const char *)part->bytes, part->n_bytes }, &merged);

	old = e < 0 ? merged : r->folded;
	if (e < 0)
		return cannot_make(r, e, why);
	r->folded = merged;
	r->has_folded = true;
	return 0;
}

int result_write_part(struct result *r, const struct built *part, struct buf *why)
{
	if (r->format == PROFILE_FOLDED)
		return add_folded(r, part, why);
	if (r->n_files > 0 && r->format != PROFILE_PPROF && r->format != PROFILE_OTLP)
		return output_append(r->file, part->bytes, part->n_bytes, why);
	if (r->n_files > 0 && !r->file) {
		(void)buf_printf(why,
				 "too many different stacks for one %s on standard output: use -o",
				 profile_format_name(r->format));
		return -EFBIG;
	}
	return write_file(r, part, why);
}

int result_write_text(struct result *r, const char *text, struct buf *why)
{
	const struct built part = { .bytes = (uint8_t *)text, .n_bytes = strlen(text) };

	return result_write_part(r, &part, why);
}

int result_write(struct result *r, const struct build *build, struct buf *why)
{
	int e = 0;

	for (const struct built *part = build->first; part && e == 0; part = part->next)
		e = result_write_part(r, part, why);
	return e;
}

static int draw(struct result *r, struct flame_tree *const *trees, const struct flame_facts *facts,
		size_t n, struct buf *out)
{
	switch (r->format) {
	case PROFILE_HTML:
		return flame_file_html(trees[0], facts, out);
	case PROFILE_SVG:
		return flame_file_svg(trees[0], facts, out);
	case PROFILE_SPEEDSCOPE:
		return flame_file_speedscope(trees, facts, n, out);
	default:
		return -EINVAL;
	}
}

static int write_whole(struct result *r, const struct buf *bytes, struct buf *why)
{
	int e = output_write(r->file, bytes->data, bytes->len, why);

	if (e == 0)
		r->n_files++;
	return e;
}

int result_end_all(struct result *r, struct flame_tree *const *trees,
		   const struct flame_facts *facts, size_t n, struct buf *why)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(GRAPH_MAX_BYTES);
	int e = draw(r, trees, facts, n, &bytes);

	return e < 0 ? cannot_make(r, e, why) : write_whole(r, &bytes, why);
}

int result_end(struct result *r, const struct flame_facts *facts, struct buf *why)
{
	struct flame_tree *const tree = &r->tree;

	if (r->has_folded)
		return write_whole(r, &r->folded, why);
	return r->tree.calls ? result_end_all(r, &tree, facts, 1, why) : 0;
}

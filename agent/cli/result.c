/* SPDX-License-Identifier: Apache-2.0 */
/* What was built, written where the person wants it. */
#include "agent/cli/result.h"

#include <errno.h>
#include <limits.h>

#include "agent/cli/output.h"

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

static int write_part(struct result *r, const struct built *part, struct buf *why)
{
	if (r->n_files > 0 && r->format != PROFILE_PPROF)
		return output_append(r->file, part->bytes, part->n_bytes, why);
	if (r->n_files > 0 && !r->file) {
		(void)buf_append_str(
			why, "too many different stacks for one pprof on standard output: use -o");
		return -EFBIG;
	}
	return write_file(r, part, why);
}

int result_write(struct result *r, const struct build *build, struct buf *why)
{
	int e = 0;

	for (const struct built *part = build->first; part && e == 0; part = part->next)
		e = write_part(r, part, why);
	return e;
}

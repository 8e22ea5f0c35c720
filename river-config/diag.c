/* SPDX-License-Identifier: Apache-2.0 */
/* The list of diagnostics and its compact forms. */
#include "river-config/river.h"

#include <errno.h>

#include "river-config/diag.h"
#include "river-config/text.h"

void river_diags_init(struct river_diags *d, struct river_arena *arena)
{
	*d = (struct river_diags){ .arena = arena };
}

static int diags_grow(struct river_diags *d)
{
	size_t max_items = d->max_items ? d->max_items * 2 : 8;
	struct river_diag *items = river_arena_alloc(d->arena, max_items * sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_items; i++)
		items[i] = d->items[i];
	d->items = items;
	d->max_items = max_items;
	return 0;
}

int river_diag_vadd(struct river_diags *d, enum river_severity severity,
		    const struct river_range *at, const char *fmt, va_list ap)
{
	struct river_text t = RIVER_TEXT_INIT(d->arena);
	struct river_diag diag = { .severity = severity };

	if (severity == RIVER_SEVERITY_ERROR)
		d->n_errors++;
	if (d->n_items >= RIVER_DIAGS_MAX) {
		d->n_dropped++;
		return 0;
	}
	river_text_vprintf(&t, fmt, ap);
	diag.message = river_text_take(&t);
	if (at)
		diag.range = *at;
	if (!diag.message || (d->n_items == d->max_items && diags_grow(d) < 0))
		return -ENOMEM;
	d->items[d->n_items++] = diag;
	return 0;
}

int river_diag_add(struct river_diags *d, enum river_severity severity,
		   const struct river_range *at, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = river_diag_vadd(d, severity, at, fmt, ap);
	va_end(ap);
	return r;
}

/* file:line:column, of which parts may be unknown; "-" for nothing at all. */
static void put_position(struct river_out *out, const struct river_range *range)
{
	bool has_file = range->file && range->file[0];

	if (has_file)
		river_out_str(out, range->file);
	if (range->start.line) {
		river_out_str(out, has_file ? ":" : "");
		river_out_number(out, range->start.line, 0);
		river_out_str(out, ":");
		river_out_number(out, range->start.column, 0);
	} else if (!has_file) {
		river_out_str(out, "-");
	}
}

void river_diag_put(struct river_out *out, const struct river_diag *diag)
{
	put_position(out, &diag->range);
	river_out_str(out, ": ");
	river_out_str(out, diag->message);
}

void river_diag_write(const struct river_diag *diag, river_write_fn write, void *ctx)
{
	struct river_out out = RIVER_OUT_INIT(write, ctx);

	river_diag_put(&out, diag);
	river_out_flush(&out);
}

void river_diags_write_summary(const struct river_diags *d, river_write_fn write, void *ctx)
{
	struct river_out out = RIVER_OUT_INIT(write, ctx);
	size_t more = d->n_items + d->n_dropped;

	if (d->n_items == 0) {
		river_out_str(&out, "no errors");
	} else {
		river_diag_put(&out, &d->items[0]);
		more--;
	}
	if (more > 0) {
		river_out_str(&out, " (and ");
		river_out_number(&out, more, 0);
		river_out_str(&out, " more diagnostics)");
	}
	river_out_flush(&out);
}

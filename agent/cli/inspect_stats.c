/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of unwind tables. */
#include "agent/cli/inspect_stats.h"

#include <inttypes.h>
#include <stdio.h>

static const char header[] = "     rows  rules      bytes  of_eh_frame  ns/row  covered  bad_fdes  "
			     "escapes  dropped  file\n";

void inspect_stats_fini(struct inspect_stats *s)
{
	free(s->lines);
	*s = (struct inspect_stats){ 0 };
}

int inspect_stats_add(struct inspect_stats *s, const char *path,
		      const struct row_table_stats *table, uint64_t n_eh_frame_bytes,
		      uint64_t build_ns)
{
	struct inspect_stats_line *lines = reallocarray(s->lines, s->n + 1, sizeof(*s->lines));

	if (!lines)
		return -ENOMEM;
	s->lines = lines;
	lines[s->n++] = (struct inspect_stats_line){
		.path = path,
		.table = table ? *table : (struct row_table_stats){ 0 },
		.n_eh_frame_bytes = n_eh_frame_bytes,
		.build_ns = build_ns,
	};
	return 0;
}

/* "-" where there is nothing to compare with. */
static void print_share(uint64_t part, uint64_t whole, int width, int digits, const char *unit,
			double scale)
{
	if (whole == 0)
		printf("  %*s", width, "-");
	else
		printf("  %*.*f%s", width - (int)(unit[0] != '\0'), digits,
		       scale * (double)part / (double)whole, unit);
}

static void print_line(const struct inspect_stats_line *l)
{
	const struct row_table_stats *t = &l->table;

	printf("%9" PRIu64 "  %5" PRIu64 "  %9" PRIu64, t->n_rows, t->n_rules, t->n_bytes);
	print_share(t->n_bytes, l->n_eh_frame_bytes, 11, 3, "", 1);
	print_share(l->build_ns, t->n_rows, 6, 1, "", 1);
	print_share(t->n_covered_bytes, t->n_text_bytes, 7, 1, "%", 100);
	printf("  %8" PRIu64 "  %7" PRIu64 "  %7" PRIu64 "  %s\n", t->source.n_bad_fdes,
	       t->n_escapes, t->n_dropped_rows, l->path);
}

static void add_to(struct inspect_stats_line *total, const struct inspect_stats_line *l)
{
	struct row_table_stats *t = &total->table;

	t->n_rows += l->table.n_rows;
	t->n_rules += l->table.n_rules;
	t->n_bytes += l->table.n_bytes;
	t->n_text_bytes += l->table.n_text_bytes;
	t->n_covered_bytes += l->table.n_covered_bytes;
	t->n_escapes += l->table.n_escapes;
	t->n_dropped_rows += l->table.n_dropped_rows;
	t->source.n_bad_fdes += l->table.source.n_bad_fdes;
	total->n_eh_frame_bytes += l->n_eh_frame_bytes;
	total->build_ns += l->build_ns;
}

int inspect_stats_print(const struct inspect_stats *s)
{
	struct inspect_stats_line total = { .path = "total" };

	(void)fputs(header, stdout);
	for (size_t i = 0; i < s->n; i++) {
		print_line(&s->lines[i]);
		add_to(&total, &s->lines[i]);
	}
	print_line(&total);
	return fflush(stdout) == 0 ? 0 : -errno;
}

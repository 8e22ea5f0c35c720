/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `xagent inspect rows`: a file's unwind rules as the kernel half finds them. The table is built, put into an arena of plain memory and
 * read back from there, so what is printed is what a walk would use.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/inspect/inspect.h"
#include "agent/cli/inspect/inspect_object.h"
#include "agent/cli/options.h"
#include "agent/object/rules/unwind_info.h"
#include "agent/unwind/row_table.h"
#include "agent/unwind/rule_text.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"

#define MESSAGE_MAX_BYTES 8192
/* The largest known table has 3 MB; this is a person's own file, and nothing runs beside. */
#define TABLE_MAX_BYTES ((size_t)1 << 30)
/* Lines are written in pieces of this size. */
#define OUTPUT_BYTES ((size_t)64 * 1024)
#define LINE_MAX_BYTES 256

static const char help[] =
	"xagent inspect rows: the unwind rules that the kernel half uses for a file\n"
	"\n"
	"Usage:\n"
	"  xagent inspect rows ELF            one line a row\n"
	"  xagent inspect rows --stats ELF…   one line a file, and their total\n"
	"\n"
	"A row is valid up to the next one:\n"
	"  VADDR CFA FP RA\n"
	"  VADDR  as linked, hexadecimal\n"
	"  CFA    the stack pointer's value in the caller: rsp+16, rbp+16, deref(rbp-8), plt "
	"(lazy\n"
	"         binding stubs), noted(sp+0)+16 and left+16 (Go on AArch64, on another stack), "
	"or\n"
	"         none: no rule from here on, and no further columns\n"
	"  FP     the caller's frame pointer: c-16 saved at CFA - 16, u unchanged, undef lost,\n"
	"         deref(rbp+0) saved there, or the register that holds it\n"
	"  RA     the return address: c-8, a register, undef (no caller: the outermost frame),\n"
	"         signal (all registers are in the kernel's signal frame)\n"
	"\n"
	"Flags:\n"
	"      --stats            rows, distinct rules, bytes (also by those of .eh_frame), time "
	"to\n"
	"                         build, share of the text with a rule, entries that were broken,\n"
	"                         rows of rules too rare for a code of their own\n"
	"  -h, --help             this text\n"
	"\n"
	"Rules come from .eh_frame, .debug_frame (also of a separate debug file), Go's tables and\n"
	"the instructions of what has none. Exit code: 0, or 1 when a file could not be read; the "
	"others still "
	"are.\n"
	"\n"
	"Examples:\n"
	"  xagent inspect rows /lib/x86_64-linux-gnu/libc.so.6 | less\n"
	"  xagent inspect rows --stats /usr/bin/*\n";

struct args {
	bool stats;
	bool help;
};

static const struct cli_flag flags[] = {
	{ "stats", 0, CLI_SWITCH, offsetof(struct args, stats), NULL, NULL },
	{ "help", 'h', CLI_SWITCH, offsetof(struct args, help), NULL, NULL },
};

/* What a callback needs to write a row. */
struct printing {
	const struct dwarf_abi *abi;
	const struct row_regions *regions;
	struct buf out;
	struct unwind_rule last; /* as it was printed: without its flags, which have no column */
};

static int flush(struct buf *out)
{
	int r = file_write_fd(STDOUT_FILENO, buf_str(out), out->len);

	buf_reset(out);
	return r;
}

/* Hexadecimal without 0x; by hand, as there may be a million. */
static void append_hex(struct buf *out, uint64_t value)
{
	char text[16];
	char *p = text + sizeof(text);

	do {
		*--p = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	(void)buf_append(out, p, (size_t)(text + sizeof(text) - p));
}

static int print_row(uint64_t place, const struct unwind_rule *rule, void *data)
{
	struct printing *p = data;
	struct unwind_rule shown = *rule;

	shown.flags = 0;
	if (memcmp(&shown, &p->last, sizeof(shown)) == 0)
		return 0;
	p->last = shown;
	append_hex(&p->out, row_regions_vaddr(p->regions, place));
	(void)buf_append_char(&p->out, ' ');
	(void)rule_text(p->abi, &shown, &p->out);
	int r = buf_append_char(&p->out, '\n');
	if (r < 0 || p->out.len < OUTPUT_BYTES)
		return r;
	return flush(&p->out);
}

static int fail(struct buf *why, const char *path, int r, const char *text)
{
	(void)buf_printf(why, "%s: %s", path, text);
	return r;
}

/* A file with what its unwind rules are made from. */
struct rules {
	struct inspect_object object;
	struct unwind_info *info;
	uint64_t info_ns; /* what finding its sources took */
};

#define RULES_INIT ((struct rules){ .object = INSPECT_OBJECT_INIT })

static void rules_fini(struct rules *r)
{
	unwind_info_free(r->info);
	inspect_object_fini(&r->object);
}

static int rules_open(struct rules *rules, const char *path, struct buf *why)
{
	const struct inspect_object *o = &rules->object;
	int r = inspect_object_open(&rules->object, path, why);

	if (r < 0)
		return r;
	if (!elf_is_64(o->elf))
		return fail(why, path, -EINVAL, "a 32-bit file; these are not unwound");
	rules->info_ns = clock_mono_ns();
	r = unwind_info_new(o->elf, o->debug, &rules->info);
	rules->info_ns = clock_mono_ns() - rules->info_ns;
	if (r < 0)
		return fail(why, path, r, strerror(-r));
	if (!unwind_info_abi(rules->info))
		return fail(why, path, -EINVAL, "of a machine that is not unwound");
	return 0;
}

/* *ret_table stays NULL where there are no rules. */
static int build(const struct rules *rules, const char *path, struct row_table **ret_table,
		 uint64_t *ret_ns, struct buf *why)
{
	uint64_t begin_ns = clock_mono_ns();
	int r = row_table_build(rules->info, rules->object.elf, TABLE_MAX_BYTES, ret_table);

	*ret_ns = clock_mono_ns() - begin_ns + rules->info_ns;
	if (r < 0)
		return fail(why, path, r, strerror(-r));
	if (r == ROW_TABLE_TOO_LARGE)
		return fail(why, path, -EFBIG, "its unwind rules are more than can be held");
	return 0;
}

static void printing_fini(struct printing *p)
{
	buf_fini(&p->out);
}

static int print_table(const struct rules *rules, const struct row_table *table)
{
	_cleanup_(kernel_arena_freep) struct kernel_arena *arena = NULL;
	struct kernel_arena_options options = { .segments_fd = -1,
						.max_segments = WIRE_MAX_SEGMENTS };
	_cleanup_(printing_fini) struct printing p = {
		.abi = unwind_info_abi(rules->info),
		.regions = row_table_regions(table),
		.out = BUF_INIT(OUTPUT_BYTES + LINE_MAX_BYTES),
	};
	struct wire_object object;
	int r = kernel_arena_new(&options, &arena);

	if (r < 0)
		return r;
	r = row_table_place(table, arena, &object);
	if (r < 0)
		return r;
	r = row_table_foreach(arena, &object, print_row, &p);
	if (r < 0)
		return r;
	return flush(&p.out);
}

static int show_rows(const char *path, struct buf *why)
{
	_cleanup_(rules_fini) struct rules rules = RULES_INIT;
	_cleanup_(row_table_freep) struct row_table *table = NULL;
	uint64_t ns;
	int r = rules_open(&rules, path, why);

	if (r < 0)
		return r;
	r = build(&rules, path, &table, &ns, why);
	if (r < 0 || !table)
		return r;
	r = print_table(&rules, table);
	return r < 0 ? fail(why, path, r, strerror(-r)) : 0;
}

/* Figures of unwind tables, as aligned columns: a header, one line a file, a total. */
struct stats_line {
	const char *path; /* borrowed */
	struct row_table_stats table;
	uint64_t n_eh_frame_bytes;
	uint64_t build_ns;
};

struct stats {
	struct stats_line *lines; /* owned */
	size_t n;
};

static const char stats_header[] =
	"     rows  rules      bytes  of_eh_frame  ns/row  covered  bad_fdes  "
	"escapes  dropped  file\n";

static void stats_fini(struct stats *s)
{
	free(s->lines);
	*s = (struct stats){ 0 };
}

/* `path` is borrowed; `table` NULL: no rules. 0 or -ENOMEM. */
static int stats_add(struct stats *s, const char *path, const struct row_table_stats *table,
		     uint64_t n_eh_frame_bytes, uint64_t build_ns)
{
	struct stats_line *lines = reallocarray(s->lines, s->n + 1, sizeof(*s->lines));

	if (!lines)
		return -ENOMEM;
	s->lines = lines;
	lines[s->n++] = (struct stats_line){
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

static void print_line(const struct stats_line *l)
{
	const struct row_table_stats *t = &l->table;

	printf("%9" PRIu64 "  %5" PRIu64 "  %9" PRIu64, t->n_rows, t->n_rules, t->n_bytes);
	print_share(t->n_bytes, l->n_eh_frame_bytes, 11, 3, "", 1);
	print_share(l->build_ns, t->n_rows, 6, 1, "", 1);
	print_share(t->n_covered_bytes, t->n_text_bytes, 7, 1, "%", 100);
	printf("  %8" PRIu64 "  %7" PRIu64 "  %7" PRIu64 "  %s\n", t->source.n_bad_fdes,
	       t->n_escapes, t->n_dropped_rows, l->path);
}

static void add_to(struct stats_line *total, const struct stats_line *l)
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

/* To standard output. 0 or -errno. */
static int stats_print(const struct stats *s)
{
	struct stats_line total = { .path = "total" };

	(void)fputs(stats_header, stdout);
	for (size_t i = 0; i < s->n; i++) {
		print_line(&s->lines[i]);
		add_to(&total, &s->lines[i]);
	}
	print_line(&total);
	return fflush(stdout) == 0 ? 0 : -errno;
}

static int add_file(const char *path, struct stats *s, struct buf *why)
{
	_cleanup_(rules_fini) struct rules rules = RULES_INIT;
	_cleanup_(row_table_freep) struct row_table *table = NULL;
	const struct elf_section *eh_frame;
	uint64_t ns;
	int r = rules_open(&rules, path, why);

	if (r < 0)
		return r;
	r = build(&rules, path, &table, &ns, why);
	if (r < 0)
		return r;
	eh_frame = elf_load_sections(rules.object.elf) == 0
			   ? elf_section_by_name(rules.object.elf, ".eh_frame")
			   : NULL;
	return stats_add(s, path, table ? row_table_stats(table) : NULL,
			 eh_frame ? eh_frame->size_bytes : 0, ns);
}

static void complain(struct buf *why)
{
	(void)fprintf(stderr, "xagent: %s\n", buf_str(why));
	buf_reset(why);
}

static int show_stats(const struct cli_words *paths, struct buf *why)
{
	_cleanup_(stats_fini) struct stats stats = { 0 };
	int code = 0;

	for (size_t i = 0; i < paths->n; i++)
		if (add_file(paths->items[i], &stats, why) < 0) {
			complain(why);
			code = CLI_EXIT_FAILURE;
		}
	return stats_print(&stats) < 0 ? CLI_EXIT_FAILURE : code;
}

static int usage(struct buf *why, const char *text)
{
	if (text)
		(void)buf_append_str(why, text);
	return cli_usage_error("inspect rows", why);
}

int inspect_rows(int argc, char **argv)
{
	_cleanup_words_ struct cli_words paths = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	struct args a = { 0 };

	if (cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &a, &paths, &why) < 0)
		return usage(&why, NULL);
	if (a.help)
		return fputs(help, stdout) < 0 ? CLI_EXIT_FAILURE : 0;
	if (paths.n == 0)
		return usage(&why, "wants an ELF file");
	if (a.stats)
		return show_stats(&paths, &why);
	if (paths.n > 1)
		return usage(&why, "wants one ELF file; with --stats also more");
	if (show_rows(paths.items[0], &why) == 0)
		return 0;
	complain(&why);
	return CLI_EXIT_FAILURE;
}

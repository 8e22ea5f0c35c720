/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent fmt [-w] [-t] [FILE|-]`: a configuration as the language's own formatter lays it out. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/cli/cli.h"
#include "agent/cli/config/config_file.h"
#include "agent/cli/config/rewrite.h"
#include "agent/cli/options.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "river-config/river.h"

#define WHY_MAX_BYTES ((size_t)16 << 10)

/* Ten times the largest input: files that people write have about the length of their formatted text. */
#define OUT_MAX_BYTES (10 * CONFIG_FILE_MAX_BYTES)

/* A tree takes some 20 times the bytes of its text, the layout as much again; at the worst several times that. */
#define ARENA_MAX_BYTES (128 * CONFIG_FILE_MAX_BYTES)

struct fmt_args {
	bool help, write, test;
};

#define AT(member) offsetof(struct fmt_args, member)

static const struct cli_flag flags[] = {
	{ "help", 'h', CLI_SWITCH, AT(help), NULL, NULL },
	{ "write", 'w', CLI_SWITCH, AT(write), NULL, NULL },
	{ "test", 't', CLI_SWITCH, AT(test), NULL, NULL },
};

/* One run. */
struct fmt {
	const struct fmt_args *args;
	const char *path; /* NULL: standard input */
	const char *name; /* in messages */
	struct buf in, out;
	struct buf *why;
};

static void print_help(void)
{
	(void)fputs(
		"Usage: xagent fmt [-w|-t] [FILE|-]\n\n"
		"Formats a configuration: the file, or standard input without one, to standard "
		"output. A file with\n"
		"mistakes is left as it is, and they are said.\n\n"
		"Flags:\n"
		"  -w, --write  write the result to the file, if it differs\n"
		"  -t, --test   write nothing; exit code 1 if the file is formatted differently\n"
		"  -h, --help   this text\n\n"
		"Examples:\n"
		"  xagent fmt -w /etc/xagent/agent.alloy\n"
		"  xagent fmt -t agent.alloy || echo 'run xagent fmt -w agent.alloy'\n",
		stdout);
}

/* "open x.alloy: permission denied": the texts of the C library begin with a capital letter. */
static int fail(struct fmt *f, const char *what, const char *name, int r)
{
	const char *text = strerror(-r);

	(void)buf_printf(f->why, "%s %s: %c%s", what, name, tolower((unsigned char)text[0]),
			 text + 1);
	return r;
}

static int refuse(struct fmt *f, const char *text)
{
	(void)buf_append_str(f->why, text);
	return -EINVAL;
}

/* Pipes and devices too: `xagent fmt <(generate)` works in a shell. */
static int open_file(struct fmt *f)
{
	struct stat st;

	if (stat(f->path, &st) < 0)
		return fail(f, "stat", f->path, -errno);
	if (S_ISDIR(st.st_mode))
		return refuse(f, "cannot format a directory");
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? fail(f, "open", f->path, -errno) : fd;
}

static int read_input(struct fmt *f)
{
	_cleanup_close_ int fd = f->path ? open_file(f) : -1;

	if (f->path && fd < 0)
		return fd;
	int r = file_read_fd(f->path ? fd : STDIN_FILENO, &f->in);

	if (r == -ENOBUFS)
		(void)buf_printf(f->why, "read %s: larger than 16 MiB", f->name);
	else if (r < 0)
		return fail(f, "read", f->path ? f->path : "/dev/stdin", r);
	return r;
}

static void append(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

static void write_stderr(void *ctx, const char *bytes, size_t n)
{
	(void)fwrite(bytes, 1, n, ctx);
}

static void print_diags(const struct river_diags *diags)
{
	for (size_t i = 0; i < diags->n_items; i++) {
		river_diag_write(&diags->items[i], write_stderr, stderr);
		(void)fputc('\n', stderr);
	}
	if (diags->n_dropped > 0)
		(void)fprintf(stderr, "(and %zu more diagnostics)\n", diags->n_dropped);
}

static int format_text(struct fmt *f, struct river_arena *arena)
{
	struct river_diags diags;

	river_diags_init(&diags, arena);
	int r = river_format(f->name, buf_str(&f->in), f->in.len, arena, &diags, append, &f->out);

	print_diags(&diags);
	if (r == RIVER_INVALID)
		return refuse(f, "encountered errors during formatting");
	if (r == 0 && f->out.failed)
		r = -ENOMEM;
	return r < 0 ? fail(f, "format", f->name, r) : 0;
}

static int format_input(struct fmt *f)
{
	struct river_arena arena;

	river_arena_init(&arena, ARENA_MAX_BYTES);
	int r = format_text(f, &arena);
	river_arena_fini(&arena);
	return r;
}

static int hand_out(struct fmt *f)
{
	bool same = f->in.len == f->out.len &&
		    memcmp(buf_str(&f->in), buf_str(&f->out), f->in.len) == 0;
	int r = 0;

	if (f->args->test && !same) {
		(void)buf_printf(f->why, "file %s is not formatted correctly", f->name);
		return -EINVAL;
	}
	if (f->args->write && !same)
		r = rewrite_file(f->path, &f->in, &f->out);
	else if (!f->args->test && !f->args->write)
		r = file_write_fd(STDOUT_FILENO, buf_str(&f->out), f->out.len);
	return r < 0 ? fail(f, f->args->write ? "open" : "write",
			    f->args->write ? f->path : "/dev/stdout", r)
		     : 0;
}

static int run(struct fmt *f)
{
	if (f->args->write && f->args->test)
		return refuse(f, "cannot use -w/--write and -t/--test at the same time");
	if (f->args->write && !f->path)
		return refuse(f, "cannot use -w with standard input");
	int r = read_input(f);

	if (r != 0)
		return r;
	r = format_input(f);
	if (r != 0)
		return r;
	return hand_out(f);
}

static int fmt(const struct fmt_args *args, const char *path)
{
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX_BYTES);
	bool is_stdin = !path || strcmp(path, "-") == 0;
	struct fmt f = {
		.args = args,
		.path = is_stdin ? NULL : path,
		.name = is_stdin ? "<stdin>" : path,
		.in = BUF_INIT(CONFIG_FILE_MAX_BYTES),
		.out = BUF_INIT(OUT_MAX_BYTES),
		.why = &why,
	};
	int r = run(&f);

	if (r < 0)
		(void)fprintf(stderr, "Error: %s\n", buf_str(&why));
	buf_fini(&f.in);
	buf_fini(&f.out);
	return r < 0 ? CLI_EXIT_FAILURE : 0;
}

/* After `--` a word may begin with a dash. */
static size_t take_path(const struct cli_words *words, const char **ret_path)
{
	size_t n = words->n;

	*ret_path = n ? words->items[0] : NULL;
	for (char **word = words->rest; word && *word; word++)
		if (n++ == 0)
			*ret_path = *word;
	return n;
}

int cli_fmt(int argc, char **argv)
{
	struct fmt_args args = { 0 };
	_cleanup_words_ struct cli_words words = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	const char *path;

	if (cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &args, &words, &why) < 0)
		return cli_usage_error("fmt", &why);
	if (args.help) {
		print_help();
		return 0;
	}
	size_t n = take_path(&words, &path);
	if (n > 1) {
		(void)buf_printf(&why, "one FILE can be formatted, %zu were given", n);
		return cli_usage_error("fmt", &why);
	}
	return fmt(&args, path);
}

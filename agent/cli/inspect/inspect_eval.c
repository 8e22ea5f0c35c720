/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent inspect eval`: what an expression of the configuration language yields. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/inspect/inspect.h"
#include "agent/version.h"
#include "river-config/river.h"

#define MESSAGE_MAX_BYTES 1024

/* An argument of a command is not longer than 128 KiB; what it makes of that is its own affair. */
#define EVAL_MAX_ARENA_BYTES ((size_t)256 << 20)

static const char help[] =
	"xagent inspect eval: what an expression of the configuration language yields\n"
	"\n"
	"Usage:\n"
	"  xagent inspect eval EXPR\n"
	"\n"
	"The value is printed in the language's own syntax: an object with a line for each of its\n"
	"keys, all else on one line, secrets as \"(secret)\". The standard library is known,\n"
	"experimental functions included; components are not, as none runs.\n"
	"\n"
	"Exit code: 0, or 1 when the expression has no value; then LINE:COLUMN: MESSAGE is on\n"
	"standard error, a line for each mistake.\n"
	"\n"
	"Examples:\n"
	"  xagent inspect eval '1 + 2 * 3'\n"
	"  xagent inspect eval 'string.format(\"%s:%d\", constants.hostname, 4040)'\n"
	"  xagent inspect eval \"encoding.from_yaml(`$(cat targets.yaml)`)\"\n";

static void print_diags(const struct river_diags *diags)
{
	for (size_t i = 0; i < diags->n_items; i++) {
		const struct river_pos *at = &diags->items[i].range.start;

		(void)fprintf(stderr, "%u:%u: %s\n", at->line ? at->line : 1,
			      at->line ? at->column : 1, diags->items[i].message);
	}
}

static void print_bytes(void *ctx, const char *bytes, size_t n)
{
	(void)fwrite(bytes, 1, n, ctx);
}

/* RIVER_OK, RIVER_INVALID with diagnostics, or -errno. */
static int eval(const char *text, struct river_arena *arena, struct river_diags *diags)
{
	const struct river_scope scope = { .version = XAGENT_VERSION,
					   .stability = RIVER_STABILITY_EXPERIMENTAL };
	const struct river_value *value;
	const struct river_expr *e;
	int r = river_parse_expr("", text, strlen(text), arena, diags, &e);

	if (r == RIVER_OK)
		r = river_eval(e, &scope, arena, diags, &value);
	if (r == RIVER_OK)
		r = river_value_write(value, RIVER_LAYOUT_LINES, arena, print_bytes, stdout);
	if (r == RIVER_OK && (putchar('\n') == EOF || fflush(stdout) != 0))
		r = -errno;
	return r;
}

static int eval_and_print(const char *text)
{
	struct river_arena arena;
	struct river_diags diags;
	int r;

	river_arena_init(&arena, EVAL_MAX_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	r = eval(text, &arena, &diags);
	print_diags(&diags);
	if (r < 0)
		(void)fprintf(stderr, "xagent: %s\n", strerror(-r));
	river_arena_fini(&arena);
	return r == RIVER_OK ? 0 : CLI_EXIT_FAILURE;
}

static int usage(const char *text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);

	(void)buf_append_str(&why, text);
	return cli_usage_error("inspect eval", &why);
}

/* An expression may begin with a minus sign, so there are no other flags. */
int inspect_eval(int argc, char **argv)
{
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return fputs(help, stdout) < 0 ? CLI_EXIT_FAILURE : 0;
	if (argc == 3 && strcmp(argv[1], "--") == 0)
		return eval_and_print(argv[2]);
	if (argc != 2)
		return usage(argc < 2 ? "wants an expression"
				      : "wants one expression, between quotes");
	return eval_and_print(argv[1]);
}

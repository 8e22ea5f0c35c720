/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent convert --source-format=yaml [-o FILE] [FILE|-]`: an older configuration in this language. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/config/config_file.h"
#include "agent/cli/config/old_river.h"
#include "agent/cli/options.h"
#include "agent/cli/output.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"

/* Ten times the largest input. */
#define OUT_MAX_BYTES (10 * CONFIG_FILE_MAX_BYTES)

struct convert_args {
	bool help;
	const char *format;
	const char *output;
};

static const struct cli_flag flags[] = {
	{ "help", 'h', CLI_SWITCH, offsetof(struct convert_args, help), NULL, NULL },
	{ "source-format", 'f', CLI_TEXT, offsetof(struct convert_args, format), "a format: yaml",
	  NULL },
	{ "output", 'o', CLI_TEXT, offsetof(struct convert_args, output), "a file", NULL },
};

static void print_help(void)
{
	(void)fputs("Usage: xagent convert --source-format=yaml [-o OUTPUT] [FILE|-]\n\n"
		    "Writes the older profiler's YAML (ebpf.programs[] with a program \"profile\") "
		    "as a "
		    "configuration\n"
		    "for `xagent run`. What has no counterpart is said in warnings on standard "
		    "error.\n\n"
		    "Flags:\n"
		    "  -f, --source-format=FORMAT  yaml\n"
		    "  -o, --output=OUTPUT         a file; standard output without it\n"
		    "  -h, --help                  this text\n\n"
		    "Example:\n"
		    "  xagent convert -f yaml -o config.alloy config.yaml && xagent validate "
		    "config.alloy\n",
		    stdout);
}

static int read_input(const char *path, struct buf *text, struct buf *why)
{
	bool is_stdin = !path || strcmp(path, "-") == 0;
	int r = is_stdin ? file_read_fd(STDIN_FILENO, text) : file_read(AT_FDCWD, path, text);

	if (r < 0)
		(void)buf_printf(why, "cannot read %s: %s", is_stdin ? "standard input" : path,
				 strerror(-r));
	return r;
}

static int convert_text(const struct buf *text, struct old_notes *notes, struct buf *out)
{
	struct old_yaml y;
	int r = old_yaml_read(buf_str(text), text->len, notes, &y);

	if (r < 0)
		return r;
	r = old_river_write(&y, notes, out);
	old_yaml_fini(&y);
	return r;
}

static int read_and_write(const char *path, const char *output, struct old_notes *notes,
			  struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CONFIG_FILE_MAX_BYTES);
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX_BYTES);
	int r = read_input(path, &text, why);

	if (r < 0)
		return r;
	r = convert_text(&text, notes, &out);
	if (r < 0)
		return r;
	return output_write(output, buf_str(&out), out.len, why);
}

static int convert(const char *path, const char *output)
{
	_cleanup_buf_ struct buf said = BUF_INIT((size_t)1 << 20);
	_cleanup_buf_ struct buf why = BUF_INIT(8192);
	struct old_notes notes = {
		.file = path && strcmp(path, "-") != 0 ? path : "<stdin>",
		.out = &said,
	};
	int r = read_and_write(path, output, &notes, &why);

	(void)fputs(buf_str(&said), stderr);
	if (r < 0 && notes.n_errors == 0)
		(void)fprintf(stderr, "Error: %s\n", why.len ? buf_str(&why) : strerror(-r));
	return r < 0 ? CLI_EXIT_FAILURE : 0;
}

int cli_convert(int argc, char **argv)
{
	struct convert_args args = { 0 };
	_cleanup_words_ struct cli_words words = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	if (cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &args, &words, &why) < 0)
		return cli_usage_error("convert", &why);
	if (args.help) {
		print_help();
		return 0;
	}
	if (!args.format)
		(void)buf_append_str(&why, "--source-format is needed: yaml");
	else if (strcmp(args.format, "yaml") != 0)
		(void)buf_printf(&why, "--source-format wants yaml, not \"%s\"", args.format);
	else if (words.n > 1)
		(void)buf_printf(&why, "one FILE can be converted, %zu were given", words.n);
	if (why.len)
		return cli_usage_error("convert", &why);
	return convert(words.n ? words.items[0] : NULL, args.output);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent inspect symbols`: what a file's functions are named by, and the names, by the profiler's own sources. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/inspect.h"
#include "agent/cli/inspect_names.h"
#include "agent/cli/options.h"
#include "agent/util/macro.h"

#define MESSAGE_MAX_BYTES 8192

static const char help[] =
	"xagent inspect symbols: what a file's functions are named by\n"
	"\n"
	"Usage:\n"
	"  xagent inspect symbols [FLAGS] ELF            all functions, ascending\n"
	"  xagent inspect symbols [FLAGS] ELF VADDR…     the function at each address\n"
	"\n"
	"First come the sources of names, a line beginning with # each, in the order in which "
	"they\n"
	"are asked, with the number of their functions. Then, of all functions:\n"
	"  BEGIN SIZE NAME    hexadecimal, as linked; SIZE ends in ? where the file does not tell "
	"it\n"
	"or of each address:\n"
	"  VADDR NAME         FILE+0xBEGIN, where its function begins, when there is no name;\n"
	"                     FILE+0xVADDR when that is not known either\n"
	"\n"
	"Flags:\n"
	"      --demangle MODE    none, simplified (default), templates or full\n"
	"      --lines            below each address one line for each function inlined there, "
	"innermost\n"
	"                         first, and the function itself: two blanks, NAME, FILE:LINE\n"
	"  -h, --help             this text\n"
	"\n"
	"The debug file is looked for on this host; no server is asked. Exit code: 0, or 1 when "
	"the\n"
	"file could not be read.\n"
	"\n"
	"Examples:\n"
	"  xagent inspect symbols /lib/x86_64-linux-gnu/libc.so.6 | less\n"
	"  xagent inspect symbols --lines /usr/bin/app 401136 0x4011a0\n";

struct args {
	enum demangle_mode demangle;
	bool lines;
	bool help;
};

static int parse_demangle(const char *value, void *member)
{
	return demangle_mode_parse(str_from(value), member) ? 0 : -EINVAL;
}

static const struct cli_flag flags[] = {
	{ "demangle", 0, CLI_PARSED, offsetof(struct args, demangle),
	  "none, simplified, templates or full", parse_demangle },
	{ "lines", 0, CLI_SWITCH, offsetof(struct args, lines), NULL, NULL },
	{ "help", 'h', CLI_SWITCH, offsetof(struct args, help), NULL, NULL },
};

static int usage(struct buf *why, const char *text)
{
	if (text)
		(void)buf_append_str(why, text);
	return cli_usage_error("inspect symbols", why);
}

static int parse_vaddr(const char *word, uint64_t *ret_vaddr, struct buf *why)
{
	struct str digits = str_from(word);

	if (str_starts_with(digits, STR_LIT("0x")) || str_starts_with(digits, STR_LIT("0X")))
		digits = (struct str){ digits.p + 2, digits.n - 2 };
	int r = str_parse_u64(digits, 16, UINT64_MAX, ret_vaddr);
	if (r < 0)
		(void)buf_printf(why, "\"%.100s\" is no address in hexadecimal", word);
	return r;
}

/* All of them are read before anything is printed. */
static int parse_vaddrs(const struct cli_words *words, uint64_t **ret_vaddrs, struct buf *why)
{
	_cleanup_free_ uint64_t *vaddrs = calloc(words->n, sizeof(*vaddrs));

	if (!vaddrs)
		return -ENOMEM;
	for (size_t i = 1; i < words->n; i++) {
		int r = parse_vaddr(words->items[i], &vaddrs[i - 1], why);

		if (r < 0)
			return r;
	}
	*ret_vaddrs = TAKE_PTR(vaddrs);
	return 0;
}

static int show(const char *path, const uint64_t *vaddrs, size_t n, const struct args *a,
		struct buf *why)
{
	_cleanup_inspect_names_ struct inspect_names names = INSPECT_NAMES_INIT;
	int r = inspect_names_open(&names, path, a->demangle, why);

	if (r < 0)
		return r;
	r = inspect_names_print_sources(&names);
	if (r == 0 && n == 0)
		r = inspect_names_print_all(&names);
	for (size_t i = 0; i < n && r == 0; i++)
		r = inspect_names_print(&names, vaddrs[i], a->lines);
	if (r == 0 && fflush(stdout) != 0)
		r = -errno;
	if (r < 0)
		(void)buf_printf(why, "%s: %s", path, strerror(-r));
	return r;
}

int inspect_symbols(int argc, char **argv)
{
	_cleanup_words_ struct cli_words words = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	_cleanup_free_ uint64_t *vaddrs = NULL;
	struct args a = { .demangle = DEMANGLE_SIMPLIFIED };

	if (cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &a, &words, &why) < 0)
		return usage(&why, NULL);
	if (a.help)
		return fputs(help, stdout) < 0 ? CLI_EXIT_FAILURE : 0;
	if (words.n == 0)
		return usage(&why, "wants an ELF file");
	if (parse_vaddrs(&words, &vaddrs, &why) < 0)
		return usage(&why, NULL);
	if (show(words.items[0], vaddrs, words.n - 1, &a, &why) == 0)
		return 0;
	(void)fprintf(stderr, "xagent: %s\n", buf_str(&why));
	return CLI_EXIT_FAILURE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent inspect symbols`: what a file's functions are named by, and the names, by the profiler's own sources. */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/inspect/inspect.h"
#include "agent/cli/inspect/inspect_object.h"
#include "agent/cli/options.h"
#include "agent/object/demangle/demangle.h"
#include "agent/object/names/symtab.h"
#include "agent/symbol/elf_symbols.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define MESSAGE_MAX_BYTES 8192
/* A person's own file, and nothing runs beside. */
#define SOURCES_MAX_BYTES ((size_t)1 << 30)
/* As many as indices have at most, for each of the sources. */
#define MAX_FUNCTIONS ((size_t)FUNCTION_KIND_MAX * SYMTAB_MAX_FUNCTIONS)

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

/* A file's names, looked at: its sources, all functions, single addresses; as text on standard output. */
struct names {
	const char *path;	      /* borrowed */
	struct inspect_object object; /* its descriptors; the rest goes to elf_symbols */
	struct elf_symbols *elf_symbols;
	struct dwarf_client *dwarf; /* owned */
	struct elf_symbols_options options;
};

#define NAMES_INIT ((struct names){ .object = INSPECT_OBJECT_INIT })

/* 0, or -errno with one line in `why` that names the file. */
static int names_open(struct names *n, const char *path, enum demangle_mode mode, struct buf *why)
{
	struct inspect_object *o = &n->object;

	assert(!n->elf_symbols);
	n->path = path;
	int r = dwarf_client_new(NULL, &n->dwarf);
	n->options = (struct elf_symbols_options){ .demangle = mode,
						   .dwarf = n->dwarf,
						   .max_bytes = SOURCES_MAX_BYTES };
	if (r < 0)
		return r;
	r = inspect_object_open(o, path, why);
	if (r < 0)
		return r;
	r = elf_symbols_new(o->elf, o->debug, &n->elf_symbols);
	if (r < 0) {
		(void)buf_printf(why, "%s: %s", path, strerror(-r));
		return r;
	}
	o->elf = o->debug = NULL;
	return 0;
}

static void names_fini(struct names *n)
{
	elf_symbols_free(n->elf_symbols);
	dwarf_client_free(n->dwarf);
	inspect_object_fini(&n->object);
}

static struct function_files files_of(const struct names *n)
{
	return (struct function_files){ .elf = n->elf_symbols->elf,
					.debug = n->elf_symbols->debug,
					.max_bytes = SOURCES_MAX_BYTES };
}

/* Addresses where functions begin. */
struct begins {
	uint64_t *items; /* owned */
	size_t n;
	size_t cap;
};

static void begins_fini(struct begins *b)
{
	free(b->items);
}

static int add_begin(uint64_t vaddr, void *data)
{
	struct begins *b = data;

	if (b->n >= MAX_FUNCTIONS)
		return -E2BIG;
	if (b->n == b->cap) {
		size_t cap = b->cap + b->cap / 2 + 1024;
		uint64_t *more = realloc(b->items, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->items = more;
		b->cap = cap;
	}
	b->items[b->n++] = vaddr;
	return 0;
}

/* Adds those of one source. 0, FUNCTION_SOURCE_NONE (there is no such source), -errno. */
static int add_source(struct names *n, enum function_kind kind, struct begins *b)
{
	struct function_files files = files_of(n);
	struct function_source *source = NULL;
	int r = function_info_source(n->elf_symbols->info, &files, kind, &source);

	if (r < 0 || !source)
		return r < 0 ? r : FUNCTION_SOURCE_NONE;
	return source->begins(source, add_begin, b);
}

static void print_source(const struct names *n, enum function_kind kind, size_t n_functions,
			 int place)
{
	char link[64], target[PATH_MAX];
	ssize_t length = 0;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", n->object.debug_fd);
	if (kind == FUNCTION_KIND_DEBUG_FILE)
		length = readlink(link, target, sizeof(target));
	(void)printf("# %d. %-15s %zu functions%s%.*s\n", place, function_kind_title(kind),
		     n_functions, length > 0 ? "  " : "", length > 0 ? (int)length : 0, target);
}

static int print_sources(struct names *n)
{
	int place = 0;

	assert(n->elf_symbols);
	for (int i = 0; i < FUNCTION_KIND_MAX; i++) {
		_cleanup_(begins_fini) struct begins begins = { 0 };
		int r = add_source(n, (enum function_kind)i, &begins);

		if (r < 0)
			return r;
		if (r == 0)
			print_source(n, (enum function_kind)i, begins.n, ++place);
	}
	if (place == 0)
		(void)printf("# no names\n");
	return 0;
}

static int print_function(struct names *n, uint64_t vaddr)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(SYMTAB_MAX_NAME_BYTES + 1);
	_cleanup_buf_ struct buf name = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES + 1);
	struct function_files files = files_of(n);
	struct function_answer answer;
	int r = function_info_find(n->elf_symbols->info, &files, vaddr, &answer);

	if (r != 0 || answer.piece.function_begin != vaddr)
		return r < 0 ? r : 0;
	r = function_info_name(n->elf_symbols->info, &answer, &raw);
	if (r == 0)
		r = demangle((struct str){ raw.data, raw.len },
			     answer.kind == FUNCTION_KIND_GO ? DEMANGLE_NONE : n->options.demangle,
			     &name);
	if (r == 0)
		(void)printf("%" PRIx64 " %" PRIx64 "%s %s\n", vaddr,
			     answer.piece.function_end - vaddr, answer.piece.is_guess ? "?" : "",
			     buf_str(&name));
	return r < 0 ? r : 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int print_all(struct names *n)
{
	_cleanup_(begins_fini) struct begins begins = { 0 };

	assert(n->elf_symbols);
	for (int i = 0; i < FUNCTION_KIND_MAX; i++) {
		int r = add_source(n, (enum function_kind)i, &begins);

		if (r < 0)
			return r;
	}
	if (begins.n > 0)
		qsort(begins.items, begins.n, sizeof(*begins.items), compare);
	for (size_t i = 0; i < begins.n; i++) {
		int r = i > 0 && begins.items[i] == begins.items[i - 1]
				? 0
				: print_function(n, begins.items[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

static void print_lines(const struct line_answer *lines, const char *name)
{
	for (uint32_t i = 0; i < lines->n; i++) {
		const struct line_frame *f = &lines->frames[i];
		const char *function = i + 1 == lines->n && name ? name : f->function;

		(void)printf("  %s", function[0] ? function : "?");
		if (f->file[0])
			(void)printf(" %s", f->file);
		if (f->file[0] && f->line)
			(void)printf(":%" PRIu32, f->line);
		(void)putchar('\n');
	}
}

static int print_address(struct names *n, uint64_t vaddr, bool with_lines)
{
	assert(n->elf_symbols);

	const struct elf_symbols_access access = { n->object.fd, n->object.debug_fd, "", 0, 0 };
	const struct line_answer *lines = NULL;
	uint64_t left_ns = UINT64_MAX;
	const char *name = NULL;
	int r = elf_symbols_name(n->elf_symbols, &n->options, &access, vaddr, &name);

	if (r < 0)
		return r;
	uint64_t begin = vaddr;
	if (!name)
		(void)elf_symbols_function_begin(n->elf_symbols, vaddr, &begin);
	if (name)
		(void)printf("%" PRIx64 " %s\n", vaddr, name);
	else
		(void)printf("%" PRIx64 " %s+0x%" PRIx64 "\n", vaddr,
			     str_basename(str_from(n->path)).p, begin);
	if (with_lines)
		r = elf_symbols_lines(n->elf_symbols, &n->options, &access, vaddr, &left_ns,
				      &lines);
	if (with_lines && r == 0)
		print_lines(lines, name);
	if (with_lines && r == ELF_SYMBOLS_FAILED)
		(void)fprintf(stderr, "xagent: %s: debug information could not be read\n", n->path);
	return r < 0 ? r : 0;
}

static int show(const char *path, const uint64_t *vaddrs, size_t n, const struct args *a,
		struct buf *why)
{
	_cleanup_(names_fini) struct names names = NAMES_INIT;
	int r = names_open(&names, path, a->demangle, why);

	if (r < 0)
		return r;
	r = print_sources(&names);
	if (r == 0 && n == 0)
		r = print_all(&names);
	for (size_t i = 0; i < n && r == 0; i++)
		r = print_address(&names, vaddrs[i], a->lines);
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

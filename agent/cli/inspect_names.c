/* SPDX-License-Identifier: Apache-2.0 */
/* A file's names, looked at. */
#include "agent/cli/inspect_names.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/object/debug_file.h"
#include "agent/object/symtab.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* A person's own file, and nothing runs beside. */
#define SOURCES_MAX_BYTES ((size_t)1 << 30)
/* As many as indices have at most, for each of the sources. */
#define MAX_FUNCTIONS ((size_t)FUNCTION_KIND_MAX * SYMTAB_MAX_FUNCTIONS)

static int fail(struct buf *why, const char *path, int r, const char *text)
{
	(void)buf_printf(why, "%s: %s", path, text);
	return r;
}

static int open_elf(struct inspect_names *n, struct elf **ret_elf, struct buf *why)
{
	struct bytes bytes;

	/* A FIFO must not hold us up; what is no regular file is refused next. */
	n->fd = open(n->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int r = n->fd < 0 ? -errno : bytes_from_fd(n->fd, &bytes);
	if (r == -EINVAL)
		return fail(why, n->path, r, "not a regular file");
	if (r == 0)
		r = elf_new(bytes, ret_elf);
	if (r < 0)
		return fail(why, n->path, r, strerror(-r));
	switch ((enum elf_outcome)r) {
	case ELF_NOT_ELF:
		return fail(why, n->path, -EINVAL, "not an ELF file");
	case ELF_MALFORMED:
		return fail(why, n->path, -EINVAL, "ELF headers that contradict themselves");
	case ELF_FOREIGN:
		return fail(why, n->path, -EINVAL, "an ELF file of the other byte order");
	case ELF_OUTCOME_MAX:
		break;
	}
	return 0;
}

/* Without one there may be fewer names, and nothing is wrong. */
static struct elf *open_debug(struct inspect_names *n, struct elf *elf)
{
	_cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *real = realpath(n->path, NULL);
	struct elf *debug = NULL;
	struct bytes bytes;

	if (root_fd < 0 || !real || debug_file_open(elf, root_fd, real, &n->debug_fd) != 0)
		return NULL;
	if (bytes_from_fd(n->debug_fd, &bytes) == 0)
		(void)elf_new(bytes, &debug);
	return debug;
}

int inspect_names_open(struct inspect_names *n, const char *path, enum demangle_mode mode,
		       struct buf *why)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(elf_freep) struct elf *debug = NULL;

	assert(!n->elf_symbols && n->fd < 0);
	n->path = path;
	int r = dwarf_client_new(NULL, &n->dwarf);
	n->options = (struct elf_symbols_options){ .demangle = mode,
						   .dwarf = n->dwarf,
						   .max_bytes = SOURCES_MAX_BYTES };
	if (r < 0)
		return r;
	r = open_elf(n, &elf, why);
	if (r < 0)
		return r;
	debug = open_debug(n, elf);
	r = elf_symbols_new(elf, debug, &n->elf_symbols);
	if (r < 0)
		return fail(why, path, r, strerror(-r));
	elf = debug = NULL;
	return 0;
}

void inspect_names_fini(struct inspect_names *n)
{
	elf_symbols_free(n->elf_symbols);
	dwarf_client_free(n->dwarf);
	cleanup_close_p(&n->debug_fd);
	cleanup_close_p(&n->fd);
	*n = INSPECT_NAMES_INIT;
}

static struct function_files files_of(const struct inspect_names *n)
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
static int add_source(struct inspect_names *n, enum function_kind kind, struct begins *b)
{
	struct function_files files = files_of(n);
	struct function_source *source = NULL;
	int r = function_info_source(n->elf_symbols->info, &files, kind, &source);

	if (r < 0 || !source)
		return r < 0 ? r : FUNCTION_SOURCE_NONE;
	return source->begins(source, add_begin, b);
}

static void print_source(const struct inspect_names *n, enum function_kind kind, size_t n_functions,
			 int place)
{
	char link[64], target[PATH_MAX];
	ssize_t length = 0;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", n->debug_fd);
	if (kind == FUNCTION_KIND_DEBUG_FILE)
		length = readlink(link, target, sizeof(target));
	(void)printf("# %d. %-15s %zu functions%s%.*s\n", place, function_kind_title(kind),
		     n_functions, length > 0 ? "  " : "", length > 0 ? (int)length : 0, target);
}

int inspect_names_print_sources(struct inspect_names *n)
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

static int print_function(struct inspect_names *n, uint64_t vaddr)
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

int inspect_names_print_all(struct inspect_names *n)
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

int inspect_names_print(struct inspect_names *n, uint64_t vaddr, bool with_lines)
{
	assert(n->elf_symbols);

	const struct elf_symbols_access access = { n->fd, n->debug_fd, "", 0, 0 };
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

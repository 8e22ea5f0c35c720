/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our names of functions with those of libdwfl (elfutils), at random addresses of ELF files.
 *
 *	names_oracle N_ADDRESSES FILE...	N_ADDRESSES of each file
 *
 * Both look at the file, its separate debug file and its .gnu_debugdata. Go programs are left out: libdwfl does not read Go's tables.
 * Every difference is of a named class, which is checked, or unexplained; exits 1 when one is unexplained, 77 when no file could be
 * compared.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/object/debug_file.h"
#include "agent/object/names/function_info.h"
#include "agent/object/names/symtab.h"
#include "agent/util/hash.h"
#include "tests/oracle/report.h"

/* Enough to see what is wrong. */
#define MAX_PRINTED 8
#define MAX_BYTES ((size_t)1 << 30)

#define CLASSES(X)                                                                             \
	X(equal, "the same name")                                                              \
	X(nameless, "neither has a name")                                                      \
	X(alias, "another name of the same address and size")                                  \
	X(resized, "another name of the same address; sizes differ")                           \
	X(nested, "ours begins later and holds the address: the innermost function names it")  \
	X(guess_refused, "theirs has no size: something ends in between, or it is no code")    \
	X(guess_wins, "ours has no size and is the nearest; theirs would be none, or farther") \
	X(no_function, "theirs is data or a section in the text: no function")                 \
	X(no_symbol, "ours is of glibc, by a jump to it; theirs has no symbol")                \
	X(unexplained, "DIFFERENT")

enum class {
#define CLASS_ENUM(name, text) CLASS_##name,
	CLASSES(CLASS_ENUM)
#undef CLASS_ENUM
		CLASS_MAX
};

struct counts {
	uint64_t of[CLASS_MAX];
};

/* Addresses where functions begin, of all our sources. */
struct begins {
	uint64_t *items;
	size_t n;
	size_t cap;
};

struct their_symbol {
	uint64_t vaddr; /* with the bias */
	int index;
};

/* One file, as both parties see it. */
struct subject {
	const char *path;
	int fd;
	int debug_fd;
	struct elf *elf;
	struct elf *debug;
	struct function_info *info;
	struct begins begins;
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;
	struct their_symbol *symbols; /* ascending */
	size_t n_symbols;
	uint64_t printed;
};

struct named {
	char name[4096]; /* "": none */
	uint64_t begin;
	uint64_t size;
	bool is_guess;
	bool is_function;
	bool has_symbol;
};

static void subject_fini(struct subject *s)
{
	if (s->dwfl)
		dwfl_end(s->dwfl);
	function_info_free(s->info);
	elf_free(s->debug);
	elf_free(s->elf);
	free(s->begins.items);
	free(s->symbols);
	if (s->debug_fd >= 0)
		(void)close(s->debug_fd);
	if (s->fd >= 0)
		(void)close(s->fd);
}

static struct function_files files_of(const struct subject *s)
{
	return (struct function_files){ .elf = s->elf, .debug = s->debug, .max_bytes = MAX_BYTES };
}

static int add_begin(uint64_t vaddr, void *data)
{
	struct begins *b = data;

	if (b->n == b->cap) {
		b->cap = b->cap * 2 + 1024;
		b->items = realloc(b->items, b->cap * sizeof(*b->items));
		if (!b->items)
			return -ENOMEM;
	}
	b->items[b->n++] = vaddr;
	return 0;
}

static const char *open_ours(struct subject *s)
{
	_cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char real[PATH_MAX];
	struct bytes bytes;

	s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || bytes_from_fd(s->fd, &bytes) != 0 || elf_new(bytes, &s->elf) != 0)
		return "no ELF file that can be read";
	if (realpath(s->path, real) && debug_file_open(s->elf, root_fd, real, &s->debug_fd) == 0 &&
	    (bytes_from_fd(s->debug_fd, &bytes) != 0 || elf_new(bytes, &s->debug) != 0))
		return "no debug file that can be read";
	if (function_info_new(&s->info) != 0)
		return "no memory";
	for (int i = 0; i < FUNCTION_KIND_MAX; i++) {
		struct function_files files = files_of(s);
		struct function_source *source = NULL;

		if (function_info_source(s->info, &files, (enum function_kind)i, &source) != 0 ||
		    !source)
			continue;
		if (i == FUNCTION_KIND_GO)
			return "a Go program";
		(void)source->begins(source, add_begin, &s->begins);
	}
	return s->begins.n > 0 ? NULL : "no symbols";
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* Without its version. */
static void copy_name(char to[static 4096], const char *name)
{
	size_t n = strcspn(name + (name[0] != '\0'), "@") + (name[0] != '\0');

	(void)snprintf(to, 4096, "%.*s", (int)n, name);
}

static void ask_ours(struct subject *s, uint64_t vaddr, struct named *ret)
{
	_cleanup_buf_ struct buf name = BUF_INIT(SYMTAB_MAX_NAME_BYTES + 1);
	struct function_files files = files_of(s);
	struct function_answer answer;

	*ret = (struct named){ .is_function = true };
	if (function_info_find(s->info, &files, vaddr, &answer) != 0 ||
	    function_info_name(s->info, &answer, &name) != 0)
		return;
	copy_name(ret->name, buf_str(&name));
	ret->begin = answer.piece.function_begin;
	ret->size = answer.piece.function_end - answer.piece.function_begin;
	ret->is_guess = answer.piece.is_guess;
	ret->has_symbol = answer.kind != FUNCTION_KIND_LIBC;
}

static void ask_theirs(struct subject *s, uint64_t vaddr, struct named *ret)
{
	GElf_Off off;
	GElf_Sym sym;
	const char *name =
		dwfl_module_addrinfo(s->module, vaddr + s->bias, &off, &sym, NULL, NULL, NULL);
	int type = name ? GELF_ST_TYPE(sym.st_info) : STT_NOTYPE;

	*ret = (struct named){ 0 };
	if (!name)
		return;
	copy_name(ret->name, name);
	ret->begin = vaddr - off;
	ret->size = sym.st_size;
	ret->is_guess = sym.st_size == 0;
	ret->is_function = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct their_symbol *x = a;
	const struct their_symbol *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* libdwfl has no look-up of all symbols at one address. */
static const char *list_theirs(struct subject *s)
{
	int n = dwfl_module_getsymtab(s->module);

	s->symbols = calloc((size_t)n, sizeof(*s->symbols));
	if (!s->symbols)
		return "no memory";
	for (int i = 0; i < n; i++) {
		GElf_Addr value;
		GElf_Sym sym;

		if (dwfl_module_getsym_info(s->module, i, &sym, &value, NULL, NULL, NULL))
			s->symbols[s->n_symbols++] = (struct their_symbol){ value, i };
	}
	qsort(s->symbols, s->n_symbols, sizeof(*s->symbols), compare_symbols);
	return NULL;
}

static const char *open_theirs(struct subject *s)
{
	Elf *elf;
	GElf_Addr bias = 0;

	s->dwfl = dwfl_begin(&callbacks);
	s->module = s->dwfl ? dwfl_report_offline(s->dwfl, s->path, s->path, -1) : NULL;
	if (!s->module || dwfl_report_end(s->dwfl, NULL, NULL) != 0)
		return "libdwfl cannot read it";
	elf = dwfl_module_getelf(s->module, &bias);
	if (!elf || dwfl_module_getsymtab(s->module) <= 0)
		return "libdwfl finds no symbols";
	s->bias = bias;
	return list_theirs(s);
}

static size_t first_at(const struct subject *s, uint64_t vaddr)
{
	size_t low = 0;
	size_t high = s->n_symbols;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->symbols[mid].vaddr < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Whether libdwfl knows that name at that address, too. */
static bool is_known_to_them(struct subject *s, const struct named *ours, uint64_t *ret_size)
{
	uint64_t vaddr = ours->begin + s->bias;

	for (size_t i = first_at(s, vaddr); i < s->n_symbols && s->symbols[i].vaddr == vaddr; i++) {
		char name[4096];
		GElf_Addr value;
		GElf_Sym sym;
		const char *raw = dwfl_module_getsym_info(s->module, s->symbols[i].index, &sym,
							  &value, NULL, NULL, NULL);

		copy_name(name, raw);
		*ret_size = sym.st_size;
		if (strcmp(name, ours->name) == 0)
			return true;
	}
	return false;
}

static enum class compare(struct subject *s, uint64_t vaddr, const struct named *ours,
			  const struct named *theirs) {
	uint64_t size = 0;

	if (!ours->name[0] && !theirs->name[0]) return CLASS_nameless;
	if (strcmp(ours->name, theirs->name) == 0) return CLASS_equal;
	if (!ours->name[0]) return theirs->is_guess ? CLASS_guess_refused
	: !theirs->is_function			    ? CLASS_no_function
						    : CLASS_unexplained;
	if (!ours->has_symbol && (!theirs->name[0] || theirs->is_guess)) return CLASS_no_symbol;
	/* Whatever else we say must be a symbol that they have as well, and hold the address. */
	if (!is_known_to_them(s, ours, &size) || vaddr < ours->begin ||
	    vaddr - ours->begin >= ours->size) return CLASS_unexplained;
	if (theirs->name[0] && theirs->begin == ours->begin) return size == theirs->size
		? CLASS_alias
		: CLASS_resized;
	if (!theirs->is_function && theirs->name[0]) return CLASS_no_function;
	if (ours->is_guess) return !theirs->name[0] || theirs->begin < ours->begin
		? CLASS_guess_wins
		: CLASS_unexplained;
	return !theirs->name[0] || theirs->is_guess || theirs->begin < ours->begin
		       ? CLASS_nested
		       : CLASS_unexplained;
}

static void compare_at(struct subject *s, uint64_t vaddr, struct counts *counts)
{
	static struct named ours, theirs;

	ask_ours(s, vaddr, &ours);
	ask_theirs(s, vaddr, &theirs);
	enum class class = compare(s, vaddr, &ours, &theirs);
	counts->of[class]++;
	if (class != CLASS_unexplained || s->printed++ >= MAX_PRINTED)
		return;
	(void)printf("  %s 0x%" PRIx64 "\n", s->path, vaddr);
	(void)printf("    ours:   %s 0x%" PRIx64 " size %" PRIu64 "%s\n", ours.name, ours.begin,
		     ours.size, ours.is_guess ? "?" : "");
	(void)printf("    theirs: %s 0x%" PRIx64 " size %" PRIu64 "\n", theirs.name, theirs.begin,
		     theirs.size);
}

static uint64_t next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return hash_u64(*state);
}

/* Inside of functions; every eighth anywhere in the text. */
static uint64_t choose(const struct subject *s, uint64_t *state)
{
	struct function_files files = files_of(s);
	struct function_answer answer;
	uint64_t begin, end;

	if (next_random(state) % 8 == 0 && elf_text_range(s->elf, &begin, &end))
		return begin + next_random(state) % (end - begin);
	begin = s->begins.items[next_random(state) % s->begins.n];
	if (function_info_find(s->info, &files, begin, &answer) != 0)
		return begin;
	return begin + next_random(state) % (answer.piece.function_end - begin);
}

static int compare_file(const char *path, uint64_t n, struct counts *counts)
{
	_cleanup_(subject_fini) struct subject s = { .path = path, .fd = -1, .debug_fd = -1 };
	uint64_t state = hash_str(path);
	const char *why = open_ours(&s);

	if (!why)
		why = open_theirs(&s);
	if (why) {
		(void)printf("skip %s: %s\n", path, why);
		return 0;
	}
	for (uint64_t i = 0; i < n; i++)
		compare_at(&s, choose(&s, &state), counts);
	return 1;
}

static int report(const struct counts *counts, int n_files)
{
	struct oracle_class classes[] = {
#define CLASS_ROW(name, text) { #name, text, false, false, counts->of[CLASS_##name] },
		CLASSES(CLASS_ROW)
#undef CLASS_ROW
	};

	classes[CLASS_unexplained].is_wrong = true;
	return oracle_report(classes, sizeof(classes) / sizeof(*classes), n_files);
}

int main(int argc, char **argv)
{
	struct counts counts = { 0 };
	int n_files = 0;
	char *end;

	if (argc < 3) {
		(void)fprintf(stderr, "usage: %s N_ADDRESSES FILE...\n", argv[0]);
		return 2;
	}
	uint64_t n = strtoull(argv[1], &end, 10);
	if (*end || n == 0) {
		(void)fprintf(stderr, "%s: %s is no number of addresses\n", argv[0], argv[1]);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		n_files += compare_file(argv[i], n, &counts);
	return report(&counts, n_files);
}

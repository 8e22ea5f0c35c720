/* SPDX-License-Identifier: Apache-2.0 */
/* File, line and inlined functions of an address. */
#include "agent/object/lines/source_lines.h"

#include <assert.h>
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "agent/object/lines/source_index.h"
#include "agent/util/macro.h"

/* From an inlined function to its abstract one to its declaration in a class, and some more. */
#define MAX_HOPS 8
/* PATH_MAX. */
#define MAX_FILE_BYTES 4096
/* Blocks in blocks: braces in a function. */
#define MAX_BLOCKS 64

struct source_lines {
	struct source_dwarf dwarf;
	struct source_index index;
	size_t max_bytes;
};

int source_lines_exist(const struct bytes *file)
{
	int r = source_image_exists(file);

	return r > 0 ? SOURCE_LINES_NONE : r;
}

int source_lines_new(const struct bytes *file, size_t max_bytes, struct scratch *scratch,
		     struct source_lines **ret)
{
	_cleanup_(source_lines_freep) struct source_lines *l = NULL;

	if (max_bytes < SOURCE_LINES_MIN_BYTES)
		return SOURCE_LINES_NONE;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->max_bytes = max_bytes;
	/* An eighth each for spans and functions. */
	int r = source_dwarf_init(&l->dwarf, file, max_bytes - max_bytes / 4, scratch);
	if (r != 0)
		return r < 0 ? r : SOURCE_LINES_NONE;
	*ret = TAKE_PTR(l);
	return 0;
}

int source_lines_start(struct source_lines *l)
{
	int r = source_dwarf_start(&l->dwarf);

	if (r == 0)
		r = source_index_init(&l->index, &l->dwarf, l->max_bytes / 8);
	return r > 0 ? SOURCE_LINES_NONE : r;
}

size_t source_lines_image_bytes(const struct source_lines *l)
{
	return l->dwarf.image->n_memory;
}

void source_lines_free(struct source_lines *l)
{
	if (!l)
		return;
	source_index_fini(&l->index);
	source_dwarf_fini(&l->dwarf);
	free(l);
}

bool source_lines_has_scratch(const struct source_lines *l)
{
	return l->dwarf.image->scratch_fd >= 0;
}

size_t source_lines_bytes(const struct source_lines *l)
{
	return sizeof(*l) + source_dwarf_bytes(&l->dwarf) + source_index_bytes(&l->index);
}

/* One question: the functions around an address, outermost first. */
struct question {
	struct source_lines *l;
	uint64_t vaddr;
	struct arena *strings;
	Dwarf_Die unit_die;
	bool has_lines;
	Dwarf_Die chain[SOURCE_FRAMES_MAX];
	uint32_t n;
};

static int copy(struct question *q, const char *text, size_t n, const char **ret_text)
{
	char *to = arena_strndup(q->strings, text, n);

	if (!to)
		return -ENOMEM;
	*ret_text = to;
	return 0;
}

static int holds(uint64_t begin, uint64_t end, void *data)
{
	const uint64_t *vaddr = data;

	return *vaddr >= begin && *vaddr < end;
}

static int find_inner(struct question *q, Dwarf_Die *parent, int depth, Dwarf_Die *ret_inlined);

/* What blocks say of their own place is no use: compilers leave it out, or wrong, where a block is in several pieces. */
static int look_at(struct question *q, Dwarf_Die *die, int depth, Dwarf_Die *ret_inlined)
{
	int r = 0;

	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		r = source_dwarf_ranges(&q->l->dwarf, die, holds, &q->vaddr);
		if (r == 1)
			*ret_inlined = *die;
		return r;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return find_inner(q, die, depth + 1, ret_inlined);
	default:
		return 0;
	}
}

/* The function inlined into `parent`, or a block of it, in which the address lies: 1 with it, 0, -errno. */
static int find_inner(struct question *q, Dwarf_Die *parent, int depth, Dwarf_Die *ret_inlined)
{
	Dwarf_Die die, next;
	int r = 0;

	if (depth == MAX_BLOCKS || dwarf_child(parent, &die) != 0)
		return 0;
	for (;;) {
		r = look_at(q, &die, depth, ret_inlined);
		if (r != 0 || dwarf_siblingof(&die, &next) != 0 ||
		    dwarf_dieoffset(&next) <= dwarf_dieoffset(&die))
			return r;
		die = next;
	}
}

static int find_inlined(struct question *q)
{
	int r = 1;

	while (r == 1 && q->n < SOURCE_FRAMES_MAX) {
		r = find_inner(q, &q->chain[q->n - 1], 0, &q->chain[q->n]);
		q->n += r == 1;
	}
	return r < 0 ? r : 0;
}

static int find_chain(struct question *q, struct source_unit *u)
{
	int r = source_index_function(&q->l->index, &q->l->dwarf, u, &q->unit_die, q->vaddr,
				      &q->chain[0]);

	if (r != 0)
		return r < 0 ? r : 0;
	q->n = 1;
	return find_inlined(q);
}

/* What one DIE says of its name: 1 when it is the linkage name. */
static int look_for_name(struct question *q, Dwarf_Die *die, const char **name, size_t *n)
{
	static const unsigned int linkage[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	Dwarf_Attribute attr;

	for (size_t i = 0; i < ARRAY_SIZE(linkage); i++)
		if (dwarf_attr(die, linkage[i], &attr)) {
			int r = source_dwarf_text(&q->l->dwarf, &attr, name, n);

			if (r <= 0)
				return r < 0 ? r : 1;
		}
	if (*n > 0 || !dwarf_attr(die, DW_AT_name, &attr))
		return 0;
	int r = source_dwarf_text(&q->l->dwarf, &attr, name, n);
	return r < 0 ? r : 0;
}

/* A DIE without a name refers to one that has it. */
static int find_name(struct question *q, const Dwarf_Die *function, const char **ret_name)
{
	Dwarf_Die die = *function;
	Dwarf_Attribute attr;
	const char *name = "";
	size_t n = 0;
	int r = 0;

	for (int hop = 0; r == 0 && hop < MAX_HOPS; hop++) {
		r = look_for_name(q, &die, &name, &n);
		if (r != 0 || (!dwarf_attr(&die, DW_AT_abstract_origin, &attr) &&
			       !dwarf_attr(&die, DW_AT_specification, &attr)))
			break;
		r = source_dwarf_follow(&q->l->dwarf, &attr, &die);
	}
	return r < 0 ? r : copy(q, name, n, ret_name);
}

/* Some tables hold paths as they were given to the compiler: from the directory that it ran in. */
static int directory_before(struct question *q, const char *path, const char **ret_dir,
			    size_t *ret_n)
{
	Dwarf_Attribute attr;

	*ret_n = 0;
	if (path[0] == '/' || path[0] == '\0' || !dwarf_attr(&q->unit_die, DW_AT_comp_dir, &attr))
		return 0;
	int r = source_dwarf_text(&q->l->dwarf, &attr, ret_dir, ret_n);
	*ret_n = MIN_OF(*ret_n, (size_t)MAX_FILE_BYTES);
	return r < 0 ? r : 0;
}

static int copy_path(struct question *q, const char *path, const char **ret_path)
{
	const char *dir = "";
	size_t n_dir, n;

	if (!path)
		return 0;
	int r = directory_before(q, path, &dir, &n_dir);
	if (r < 0)
		return r;
	n = strnlen(path, MAX_FILE_BYTES);
	char *to = arena_alloc(q->strings, n_dir + 1 + n + 1);
	if (!to)
		return -ENOMEM;
	*ret_path = to;
	if (n_dir > 0) {
		memcpy(to, dir, n_dir);
		to += n_dir;
		*to++ = '/';
	}
	memcpy(to, path, n);
	to[n] = '\0';
	return 0;
}

static int find_line(struct question *q, struct source_frame *f)
{
	Dwarf_Line *line = q->has_lines ? dwarf_getsrc_die(&q->unit_die, q->vaddr) : NULL;
	int number = 0;

	if (!line)
		return 0;
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		f->line = (uint32_t)number;
	return copy_path(q, dwarf_linesrc(line, NULL, NULL), &f->file);
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) != 0 ||
	    value > INT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* Where an inlined function was called: a line of the function around it. */
static int find_call(struct question *q, Dwarf_Die *inlined, struct source_frame *f)
{
	Dwarf_Files *files;
	size_t n;
	uint32_t file = number_of(inlined, DW_AT_call_file);

	f->line = number_of(inlined, DW_AT_call_line);
	if (!q->has_lines || !dwarf_hasattr(inlined, DW_AT_call_file) ||
	    dwarf_getsrcfiles(&q->unit_die, &files, &n) != 0 || file >= n)
		return 0;
	return copy_path(q, dwarf_filesrc(files, file, NULL, NULL), &f->file);
}

static int answer(struct question *q, struct source_frames *ret)
{
	int r = 0;

	/* Code that no function owns (assembly) still has lines. */
	ret->n = q->n ? q->n : 1;
	assert(ret->n <= SOURCE_FRAMES_MAX);
	for (uint32_t i = 0; r == 0 && i < ret->n; i++) {
		struct source_frame *f = &ret->items[i];

		*f = (struct source_frame){ .function = "", .file = "" };
		r = i == 0 ? find_line(q, f) : find_call(q, &q->chain[q->n - i], f);
		if (r == 0 && q->n > 0)
			r = find_name(q, &q->chain[q->n - 1 - i], &f->function);
	}
	return r;
}

static int ask(struct question *q, struct source_unit *u, struct source_frames *ret)
{
	int r = source_dwarf_unit(&q->l->dwarf, u, SOURCE_WHOLE, &q->unit_die);

	if (r != 0)
		return r;
	r = find_chain(q, u);
	if (r != 0)
		return r;
	r = source_dwarf_load_lines(&q->l->dwarf, u, &q->unit_die);
	if (r < 0)
		return r;
	q->has_lines = r == 0;
	if (!q->has_lines && q->n == 0)
		return SOURCE_LINES_NONE;
	return answer(q, ret);
}

int source_lines_frames(struct source_lines *l, uint64_t vaddr, struct arena *strings,
			struct source_frames *ret)
{
	struct question q = { .l = l, .vaddr = vaddr, .strings = strings };
	struct source_frames frames;
	struct source_unit *u = source_index_unit(&l->index, &l->dwarf, vaddr);

	if (!u)
		return SOURCE_LINES_NONE;
	if (l->index.n_function_bytes > l->max_bytes / 8)
		source_index_drop_functions(&l->index, &l->dwarf);
	int r = source_dwarf_trim(&l->dwarf);
	if (r == 0)
		r = ask(&q, u, &frames);
	if (r != 0)
		return r < 0 ? r : SOURCE_LINES_NONE;
	ret->n = frames.n;
	memcpy(ret->items, frames.items, frames.n * sizeof(frames.items[0]));
	return 0;
}

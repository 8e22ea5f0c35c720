/* SPDX-License-Identifier: Apache-2.0 */
/* The names of one object's functions, by all sources. */
#include "agent/object/names/function_info.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/object/go/go_function_source.h"
#include "agent/object/names/debugdata_source.h"
#include "agent/object/names/libc_source.h"
#include "agent/object/names/symtab_source.h"
#include "agent/object/v8/builtin_source.h"
#include "agent/util/macro.h"

struct function_info {
	struct function_source *sources[FUNCTION_KIND_MAX]; /* NULL: not made, or not there */
	bool is_absent[FUNCTION_KIND_MAX];
	struct function_extents *extents; /* NULL: not made, or not there */
	bool has_no_extents;
};

/* Of a file's memory, for extents without a table: 16 bytes each, and their section once as much. Programs linked statically come to
 * that: some thousand functions. */
#define EXTENTS_SHARE 8

static int make_go(const struct function_files *files, struct function_source **ret_source)
{
	return go_function_source_new(files->elf, ret_source);
}

static int make_debugdata(const struct function_files *files, struct function_source **ret_source)
{
	return debugdata_source_new(files->elf, files->max_bytes, ret_source);
}

static int make_symtab(const struct function_files *files, struct function_source **ret_source)
{
	if (!symtab_has_static(files->elf))
		return FUNCTION_SOURCE_NONE;
	return symtab_source_new(files->elf, SYMTAB_ALL, files->elf, ret_source);
}

static int make_described(struct elf *debug, const struct elf *elf,
			  struct function_source **ret_source)
{
	int r = FUNCTION_SOURCE_NONE;

	if (elf_machine(debug) == elf_machine(elf) && elf_is_64(debug) == elf_is_64(elf))
		r = symtab_source_new(debug, SYMTAB_STATIC, elf, ret_source);
	elf_drop_sections(debug);
	return r;
}

static int make_debug_file(const struct function_files *files, struct function_source **ret_source)
{
	return make_described(files->debug, files->elf, ret_source);
}

static int make_fetched(const struct function_files *files, struct function_source **ret_source)
{
	return make_described(files->fetched, files->elf, ret_source);
}

/* Where there is a .symtab, these symbols were asked with it. */
static int make_dynsym(const struct function_files *files, struct function_source **ret_source)
{
	if (symtab_has_static(files->elf))
		return FUNCTION_SOURCE_NONE;
	return symtab_source_new(files->elf, SYMTAB_DYNAMIC, files->elf, ret_source);
}

static int make_libc(const struct function_files *files, struct function_source **ret_source)
{
	return libc_source_new(files->elf, files->max_bytes / EXTENTS_SHARE, ret_source);
}

static int make_v8(const struct function_files *files, struct function_source **ret_source)
{
	return v8_builtin_source_new(files->elf, ret_source);
}

/* Most trusted first. */
static const struct {
	const char *title;
	int (*make)(const struct function_files *files, struct function_source **ret_source);
} kinds[FUNCTION_KIND_MAX] = {
	[FUNCTION_KIND_GO] = { "Go tables", make_go },
	[FUNCTION_KIND_SYMTAB] = { ".symtab", make_symtab },
	[FUNCTION_KIND_DEBUG_FILE] = { "debug file", make_debug_file },
	[FUNCTION_KIND_DEBUGDATA] = { ".gnu_debugdata", make_debugdata },
	[FUNCTION_KIND_DYNSYM] = { ".dynsym", make_dynsym },
	[FUNCTION_KIND_LIBC] = { "glibc's jumps", make_libc },
	[FUNCTION_KIND_V8] = { "V8 builtins", make_v8 },
	[FUNCTION_KIND_FETCHED] = { "debuginfod", make_fetched },
};

const char *function_kind_title(enum function_kind kind)
{
	assert(kind < FUNCTION_KIND_MAX);
	return kinds[kind].title;
}

int function_info_new(struct function_info **ret_info)
{
	struct function_info *info = calloc(1, sizeof(*info));

	if (!info)
		return -ENOMEM;
	*ret_info = info;
	return 0;
}

void function_info_drop(struct function_info *info)
{
	for (int i = 0; i < FUNCTION_KIND_MAX; i++) {
		if (info->sources[i])
			info->sources[i]->free(info->sources[i]);
		info->sources[i] = NULL;
	}
	function_extents_free(info->extents);
	info->extents = NULL;
}

void function_info_forget(struct function_info *info)
{
	for (int i = 0; i < FUNCTION_KIND_MAX; i++)
		info->is_absent[i] = false;
}

void function_info_free(struct function_info *info)
{
	if (!info)
		return;
	function_info_drop(info);
	free(info);
}

size_t function_info_bytes(const struct function_info *info)
{
	size_t n = sizeof(*info) + (info->extents ? function_extents_bytes(info->extents) : 0);

	for (int i = 0; i < FUNCTION_KIND_MAX; i++)
		n += info->sources[i] ? info->sources[i]->bytes(info->sources[i]) : 0;
	return n;
}

bool function_info_is_loaded(const struct function_info *info)
{
	for (int i = 0; i < FUNCTION_KIND_MAX; i++)
		if (info->sources[i])
			return true;
	return info->extents;
}

/* False while a file that the source reads is not at hand; it may be later. */
static bool has_file(const struct function_files *files, enum function_kind kind)
{
	if (kind == FUNCTION_KIND_DEBUG_FILE)
		return files->debug;
	return kind != FUNCTION_KIND_FETCHED || files->fetched;
}

int function_info_source(struct function_info *info, const struct function_files *files,
			 enum function_kind kind, struct function_source **ret_source)
{
	int r = 0;

	assert(kind < FUNCTION_KIND_MAX);
	*ret_source = NULL;
	if (!has_file(files, kind) || info->is_absent[kind])
		return 0;
	if (!info->sources[kind]) {
		r = kinds[kind].make(files, &info->sources[kind]);
		/* The section table is needed for making only. */
		elf_drop_sections(files->elf);
	}
	if (r == -ENOMEM)
		return r;
	info->is_absent[kind] = r != 0;
	*ret_source = info->sources[kind];
	return 0;
}

/* What was found so far. */
struct search {
	uint64_t begin;
	uint64_t end;
	uint64_t border; /* the last one before the address that is known */
	struct function_answer answer;
	bool is_guess;
	bool is_done;
};

static void take(struct search *s, const struct function_answer *a, bool is_found)
{
	s->begin = MAX_OF(s->begin, a->piece.begin);
	s->end = MIN_OF(s->end, a->piece.end);
	if (!is_found) {
		s->border = MAX_OF(s->border, a->piece.begin);
		return;
	}
	s->is_done = !a->piece.is_guess;
	/* Of guesses the nearest, of equals that of the more trusted. */
	if (s->is_done || !s->is_guess || a->piece.function_begin > s->answer.piece.function_begin)
		s->answer = *a;
	s->is_guess = !s->is_done;
}

static int ask(struct function_info *info, const struct function_files *files,
	       enum function_kind kind, uint64_t vaddr, struct search *s)
{
	struct function_answer a = { .kind = kind };
	struct function_source *source = NULL;
	int r = function_info_source(info, files, kind, &source);

	if (r < 0 || !source)
		return r;
	r = source->find(source, vaddr, &a.piece);
	if (r == -ENOMEM)
		return r;
	/* What cannot be read costs this address its answer, and leaves it to the next. */
	if (r < 0)
		a.piece = (struct function_piece){ .begin = vaddr, .end = vaddr + 1 };
	take(s, &a, r == 0);
	return 0;
}

static int make_extents(struct function_info *info, const struct function_files *files)
{
	if (info->extents || info->has_no_extents)
		return 0;
	int r = function_extents_new(files->elf, files->max_bytes / EXTENTS_SHARE, &info->extents);
	elf_drop_sections(files->elf);
	info->has_no_extents = r != 0 && r != -ENOMEM;
	return r == -ENOMEM ? r : 0;
}

int function_info_extent(struct function_info *info, const struct function_files *files,
			 uint64_t vaddr, struct function_extent *ret_extent)
{
	int r = make_extents(info, files);

	if (r < 0 || !info->extents)
		return r < 0 ? r : FUNCTION_INFO_NONE;
	r = function_extents_find(info->extents, vaddr, ret_extent);
	/* As with names, what cannot be read is not there. */
	return r == 0 || r == -ENOMEM ? r : FUNCTION_INFO_NONE;
}

/* It reaches no further than the function that it begins, as far as unwind information tells one from the next. */
static int bound_guess(struct function_info *info, const struct function_files *files,
		       uint64_t vaddr, struct search *s)
{
	struct function_extent extent;
	int r = files->elf ? function_info_extent(info, files, vaddr, &extent) : FUNCTION_INFO_NONE;

	if (r != 0)
		return r < 0 ? r : 0;
	s->begin = MAX_OF(s->begin, extent.begin);
	s->end = MIN_OF(s->end, extent.end);
	s->border = MAX_OF(s->border, extent.begin);
	return 0;
}

int function_info_find(struct function_info *info, const struct function_files *files,
		       uint64_t vaddr, struct function_answer *ret_answer)
{
	struct search s = { .end = UINT64_MAX };

	for (int i = 0; i < FUNCTION_KIND_MAX && !s.is_done; i++) {
		int r = ask(info, files, (enum function_kind)i, vaddr, &s);

		if (r < 0)
			return r;
	}
	if (s.is_guess) {
		int r = bound_guess(info, files, vaddr, &s);

		if (r < 0)
			return r;
	}
	/* Where something ends in between, a guess does not reach as far as the address. */
	if (s.is_guess && s.border > s.answer.piece.function_begin)
		s.is_guess = false;
	s.answer.piece.begin = s.begin;
	s.answer.piece.end = s.end;
	*ret_answer = s.answer;
	return s.is_done || s.is_guess ? 0 : FUNCTION_INFO_NONE;
}

int function_info_frames(struct function_info *info, const struct function_files *files,
			 uint64_t vaddr, struct arena *strings, struct source_frames *ret_frames)
{
	for (int i = 0; i < FUNCTION_KIND_MAX; i++) {
		struct function_source *source = info->sources[i];

		if (!source || !has_file(files, (enum function_kind)i) || !source->frames)
			continue;
		int r = source->frames(source, vaddr, strings, ret_frames);
		if (r <= 0)
			return r;
	}
	return FUNCTION_INFO_NONE;
}

int function_info_name(struct function_info *info, const struct function_answer *answer,
		       struct buf *name)
{
	assert(answer->kind < FUNCTION_KIND_MAX);

	struct function_source *source = info->sources[answer->kind];
	int r = source ? source->name(source, &answer->piece, name) : FUNCTION_SOURCE_NONE;

	return r == FUNCTION_SOURCE_NONE ? FUNCTION_INFO_NONE : r;
}

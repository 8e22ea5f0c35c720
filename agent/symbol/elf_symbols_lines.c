/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside of a file: files, lines, inlined functions. By Go's tables, or by the DWARF of the file, its debug file, or the server's. */
#include <errno.h>
#include <string.h>

#include "agent/symbol/elf_symbols_private.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* Of one reader: the rest is names and other files'. */
#define READER_SHARE 4
/* Strings of one address, before they are kept. */
#define STRINGS_MAX_BYTES ((size_t)1 << 20)

/* Unpacking to disk takes seconds: not more than once in ELF_SYMBOLS_NEGATIVE_NS, whatever becomes of the reader. */
static struct scratch *scratch_of(const struct elf_symbols *elf_symbols,
				  const struct elf_symbols_options *options, uint64_t now_ns)
{
	bool is_due = !elf_symbols->scratch_ns ||
		      now_ns >= elf_symbols->scratch_ns + ELF_SYMBOLS_NEGATIVE_NS;

	return is_due ? options->scratch : NULL;
}

static int make_reader(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		       uint64_t now_ns, int fd)
{
	int r = dwarf_file_open(options->dwarf, fd, options->max_bytes / READER_SHARE,
				scratch_of(elf_symbols, options, now_ns), &elf_symbols->reader);

	if (r != 0)
		return r;
	if (dwarf_file_has_scratch(elf_symbols->reader))
		elf_symbols->scratch_ns = now_ns;
	return 0;
}

/* The file at hand, its debug file, the server's. 0, any dwarf_outcome, -errno. */
static int try_files(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		     const struct elf_symbols_access *access, bool *ret_is_passing)
{
	const int fds[] = { access->fd, elf_symbols->debug ? access->debug_fd : -1 };
	int r = DWARF_NONE;

	for (size_t i = 0; i < ARRAY_SIZE(fds) && r == DWARF_NONE; i++)
		if (fds[i] >= 0)
			r = make_reader(elf_symbols, options, access->now_ns, fds[i]);
	if (r != DWARF_NONE)
		return r;
	(void)elf_symbols_fetch(elf_symbols, options, access, ret_is_passing);
	return elf_symbols->fetched
		       ? make_reader(elf_symbols, options, access->now_ns, elf_symbols->fetched_fd)
		       : r;
}

/* The file could not be read just now (reader.h): that tells nothing of what is in it. */
static bool is_unread(int r)
{
	return r == -ETIMEDOUT || r == -EHOSTDOWN || r == -EAGAIN || r == -EIO;
}

/* No reader where nobody has lines. 0, DWARF_FAILED, -ENOMEM. */
static int open_reader(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		       const struct elf_symbols_access *access, bool *ret_is_passing)
{
	if (elf_symbols->reader || elf_symbols->is_readerless || !options->dwarf)
		return 0;
	int r = try_files(elf_symbols, options, access, ret_is_passing);

	if (r == -ENOMEM || r == DWARF_FAILED)
		return r;
	*ret_is_passing |= r == DWARF_NOT_NOW || is_unread(r);
	*ret_is_passing |= r != 0 && elf_symbols->debug && access->debug_fd < 0;
	*ret_is_passing |=
		r != 0 && options->scratch && !scratch_of(elf_symbols, options, access->now_ns);
	elf_symbols->is_readerless = r != 0 && !*ret_is_passing;
	return 0;
}

static int ask_reader(struct elf_symbols *elf_symbols, const struct elf_symbols_access *access,
		      uint64_t vaddr, struct arena *strings, struct source_frames *ret_frames,
		      bool *ret_is_passing)
{
	elf_symbols->reader_interval = access->interval;
	int r = dwarf_file_frames(elf_symbols->reader, vaddr, strings, ret_frames);

	if (r == DWARF_FAILED || r == DWARF_NOT_NOW) {
		dwarf_file_close(elf_symbols->reader);
		elf_symbols->reader = NULL;
	}
	*ret_is_passing |= r == DWARF_NOT_NOW;
	return r;
}

/* 0, ELF_SYMBOLS_NO_NAME, ELF_SYMBOLS_FAILED, -errno. */
static int ask(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
	       const struct elf_symbols_access *access, uint64_t vaddr, struct arena *strings,
	       struct source_frames *ret_frames, bool *ret_is_passing)
{
	struct function_files files = elf_symbols_files(elf_symbols, options, access);
	struct function_source *go = NULL;
	int r = function_info_source(elf_symbols->info, &files, FUNCTION_KIND_GO, &go);

	if (r == 0)
		r = function_info_frames(elf_symbols->info, &files, vaddr, strings, ret_frames);
	if (r != FUNCTION_INFO_NONE)
		return r;
	*ret_is_passing |= elf_symbols->failed_ns > 0;
	if (elf_symbols->failed_ns > 0)
		return ELF_SYMBOLS_NO_NAME;
	r = open_reader(elf_symbols, options, access, ret_is_passing);
	if (r == 0 && elf_symbols->reader)
		r = ask_reader(elf_symbols, access, vaddr, strings, ret_frames, ret_is_passing);
	else if (r == 0)
		r = DWARF_NONE;
	if (r == DWARF_FAILED)
		elf_symbols->failed_ns = MAX_OF(access->now_ns, (uint64_t)1);
	return r <= 0 ? r : r == DWARF_FAILED ? ELF_SYMBOLS_FAILED : ELF_SYMBOLS_NO_NAME;
}

static int add(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
	       const struct elf_symbols_access *access, uint64_t vaddr,
	       const struct line_answer **ret_answer)
{
	struct source_frames *frames = calloc(1, sizeof(*frames));
	struct arena strings;
	bool is_passing = false;

	if (!frames)
		return -ENOMEM;
	arena_init(&strings, STRINGS_MAX_BYTES);
	int r = ask(elf_symbols, options, access, vaddr, &strings, frames, &is_passing);
	if (r != 0)
		frames->n = 0;
	if (is_passing || is_unread(r))
		r = ELF_SYMBOLS_NO_NAME;
	else if (r != -ENOMEM && r != ELF_SYMBOLS_FAILED)
		r = line_cache_add(&elf_symbols->lines, vaddr, frames, options->demangle,
				   ret_answer);
	arena_fini(&strings);
	free(frames);
	return r;
}

int elf_symbols_lines(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		      const struct elf_symbols_access *access, uint64_t vaddr, uint64_t *left_ns,
		      const struct line_answer **ret_answer)
{
	const struct line_answer *answer = line_cache_find(&elf_symbols->lines, vaddr);
	uint64_t begin_ns;
	int r = 0;

	if (!answer && !elf_symbols_is_readable(elf_symbols, access))
		return ELF_SYMBOLS_NO_NAME;
	if (!answer && *left_ns == 0)
		return ELF_SYMBOLS_NO_TIME;
	if (!answer) {
		begin_ns = clock_mono_ns();
		r = add(elf_symbols, options, access, vaddr, &answer);
		*left_ns -= MIN_OF(*left_ns, clock_mono_ns() - begin_ns);
	}
	if (r != 0)
		return r;
	*ret_answer = answer;
	return answer->n > 0 ? 0 : ELF_SYMBOLS_NO_NAME;
}

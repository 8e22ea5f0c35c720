/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside of a file: files, lines, inlined functions. By Go's tables, or by the DWARF of the file, its debug file, or the server's. */
#include <errno.h>
#include <string.h>

#include "agent/symbol/image_private.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* Of one reader: the rest is names and other files'. */
#define READER_SHARE 4
/* Strings of one address, before they are kept. */
#define STRINGS_MAX_BYTES ((size_t)1 << 20)

/* Unpacking to disk takes seconds: not more than once in IMAGE_NEGATIVE_NS, whatever becomes of the reader. */
static struct scratch *scratch_of(const struct image *image, const struct image_options *options,
				  uint64_t now_ns)
{
	bool is_due = !image->scratch_ns || now_ns >= image->scratch_ns + IMAGE_NEGATIVE_NS;

	return is_due ? options->scratch : NULL;
}

static int make_reader(struct image *image, const struct image_options *options, uint64_t now_ns,
		       int fd)
{
	int r = dwarf_file_open(options->dwarf, fd, options->max_bytes / READER_SHARE,
				scratch_of(image, options, now_ns), &image->reader);

	if (r == 0 && dwarf_file_has_scratch(image->reader))
		image->scratch_ns = now_ns;
	return r;
}

/* The file at hand, its debug file, the server's. 0, any dwarf_outcome, -errno. */
static int try_files(struct image *image, const struct image_options *options,
		     const struct image_access *access, bool *ret_is_passing)
{
	const int fds[] = { access->fd, image->debug ? access->debug_fd : -1 };
	int r = DWARF_NONE;

	for (size_t i = 0; i < ARRAY_SIZE(fds) && r == DWARF_NONE; i++)
		if (fds[i] >= 0)
			r = make_reader(image, options, access->now_ns, fds[i]);
	if (r != DWARF_NONE)
		return r;
	(void)image_fetch(image, options, access, ret_is_passing);
	return image->fetched ? make_reader(image, options, access->now_ns, image->fetched_fd) : r;
}

/* The file could not be read just now (reader.h): that tells nothing of what is in it. */
static bool is_unread(int r)
{
	return r == -ETIMEDOUT || r == -EHOSTDOWN || r == -EAGAIN || r == -EIO;
}

/* No reader where nobody has lines. 0, DWARF_FAILED, -ENOMEM. */
static int open_reader(struct image *image, const struct image_options *options,
		       const struct image_access *access, bool *ret_is_passing)
{
	if (image->reader || image->is_readerless || !options->dwarf)
		return 0;
	int r = try_files(image, options, access, ret_is_passing);

	if (r == -ENOMEM || r == DWARF_FAILED)
		return r;
	*ret_is_passing |= r == DWARF_NOT_NOW || is_unread(r);
	*ret_is_passing |= r != 0 && image->debug && access->debug_fd < 0;
	*ret_is_passing |=
		r != 0 && options->scratch && !scratch_of(image, options, access->now_ns);
	image->is_readerless = r != 0 && !*ret_is_passing;
	return 0;
}

static int ask_reader(struct image *image, const struct image_access *access, uint64_t vaddr,
		      struct arena *strings, struct source_frames *ret_frames, bool *ret_is_passing)
{
	image->reader_interval = access->interval;
	int r = dwarf_file_frames(image->reader, vaddr, strings, ret_frames);

	if (r == DWARF_FAILED || r == DWARF_NOT_NOW) {
		dwarf_file_close(image->reader);
		image->reader = NULL;
	}
	*ret_is_passing |= r == DWARF_NOT_NOW;
	return r;
}

/* 0, IMAGE_NO_NAME, IMAGE_FAILED, -errno. */
static int ask(struct image *image, const struct image_options *options,
	       const struct image_access *access, uint64_t vaddr, struct arena *strings,
	       struct source_frames *ret_frames, bool *ret_is_passing)
{
	struct function_files files = image_files(image, options, access);
	struct function_source *go = NULL;
	int r = function_info_source(image->info, &files, FUNCTION_KIND_GO, &go);

	if (r == 0)
		r = function_info_frames(image->info, &files, vaddr, strings, ret_frames);
	if (r != FUNCTION_INFO_NONE)
		return r;
	*ret_is_passing |= image->failed_ns > 0;
	if (image->failed_ns > 0)
		return IMAGE_NO_NAME;
	r = open_reader(image, options, access, ret_is_passing);
	if (r == 0 && image->reader)
		r = ask_reader(image, access, vaddr, strings, ret_frames, ret_is_passing);
	else if (r == 0)
		r = DWARF_NONE;
	if (r == DWARF_FAILED)
		image->failed_ns = MAX_OF(access->now_ns, (uint64_t)1);
	return r <= 0 ? r : r == DWARF_FAILED ? IMAGE_FAILED : IMAGE_NO_NAME;
}

static int add(struct image *image, const struct image_options *options,
	       const struct image_access *access, uint64_t vaddr,
	       const struct line_answer **ret_answer)
{
	struct source_frames *frames = calloc(1, sizeof(*frames));
	struct arena strings;
	bool is_passing = false;

	if (!frames)
		return -ENOMEM;
	arena_init(&strings, STRINGS_MAX_BYTES);
	int r = ask(image, options, access, vaddr, &strings, frames, &is_passing);
	if (r != 0)
		frames->n = 0;
	if (is_passing || is_unread(r))
		r = IMAGE_NO_NAME;
	else if (r != -ENOMEM && r != IMAGE_FAILED)
		r = line_cache_add(&image->lines, vaddr, frames, options->demangle, ret_answer);
	arena_fini(&strings);
	free(frames);
	return r;
}

int image_lines(struct image *image, const struct image_options *options,
		const struct image_access *access, uint64_t vaddr, uint64_t *left_ns,
		const struct line_answer **ret_answer)
{
	const struct line_answer *answer = line_cache_find(&image->lines, vaddr);
	uint64_t begin_ns;
	int r = 0;

	if (!answer && !image_is_readable(image, access))
		return IMAGE_NO_NAME;
	if (!answer && *left_ns == 0)
		return IMAGE_NO_TIME;
	if (!answer) {
		begin_ns = clock_mono_ns();
		r = add(image, options, access, vaddr, &answer);
		*left_ns -= MIN_OF(*left_ns, clock_mono_ns() - begin_ns);
	}
	if (r != 0)
		return r;
	*ret_answer = answer;
	return answer->n > 0 ? 0 : IMAGE_NO_NAME;
}

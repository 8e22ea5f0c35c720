/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside of a file: files, lines, inlined functions. By Go's tables, or by the DWARF of the file, its debug file, or the server's. */
#include <errno.h>
#include <string.h>

#include "agent/object/source_lines.h"
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
	int r = source_lines_new(fd, options->max_bytes / READER_SHARE,
				 scratch_of(image, options, now_ns), &image->reader);

	if (r == 0 && source_lines_has_scratch(image->reader))
		image->scratch_ns = now_ns;
	return r;
}

/* NULL where nobody has lines. */
static int open_reader(struct image *image, const struct image_options *options,
		       const struct image_access *access, bool *ret_is_passing)
{
	const int fds[] = { access->fd, image->debug ? access->debug_fd : -1 };
	int r = SOURCE_LINES_NONE;

	if (image->reader || image->is_readerless)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fds) && r == SOURCE_LINES_NONE; i++)
		if (fds[i] >= 0)
			r = make_reader(image, options, access->now_ns, fds[i]);
	if (r == SOURCE_LINES_NONE) {
		(void)image_fetch(image, options, access, ret_is_passing);
		if (image->fetched)
			r = make_reader(image, options, access->now_ns, image->fetched_fd);
	}
	if (r == -ENOMEM)
		return r;
	*ret_is_passing |= r != 0 && image->debug && access->debug_fd < 0;
	*ret_is_passing |=
		r != 0 && options->scratch && !scratch_of(image, options, access->now_ns);
	image->is_readerless = r != 0 && !*ret_is_passing;
	return 0;
}

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
	r = open_reader(image, options, access, ret_is_passing);
	if (r < 0 || !image->reader)
		return r < 0 ? r : FUNCTION_INFO_NONE;
	image->reader_interval = access->interval;
	return source_lines_frames(image->reader, vaddr, strings, ret_frames);
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
	if (is_passing)
		r = IMAGE_NO_NAME;
	else if (r != -ENOMEM)
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

/* SPDX-License-Identifier: Apache-2.0 */
/* A reader: answers what the agent asks of one file. */
#include "agent/dwarf/answering.h"

#include <errno.h>

#include "agent/dwarf/channel.h"
#include "agent/dwarf/message.h"
#include "agent/dwarf/sandbox.h"
#include "agent/object/lines/source_lines.h"

struct reader {
	int fd;
	const struct bytes *file; /* borrowed */
	uint64_t mapped_bytes;
	struct scratch scratch;
	struct source_lines *lines; /* NULL: not open */
	struct source_frames frames;
	struct buf message;
};

static int say(struct reader *r, enum dwarf_answer_kind kind, uint64_t value)
{
	const struct dwarf_answer answer = { kind, value, &r->frames };

	buf_reset(&r->message);
	int error = dwarf_answer_write(&answer, &r->message);
	return error == 0 ? channel_send(r->fd, r->message.data, r->message.len, NULL, 0) : error;
}

/* The agent opens it, who knows how much room there is. No more than that is written. */
static int open_scratch(void *data, uint64_t n_bytes, int *ret_fd)
{
	struct reader *r = data;
	struct dwarf_question question;
	_cleanup_close_ int fd = -1;

	if (say(r, DWARF_WANTS_SCRATCH, n_bytes) != 0 ||
	    channel_receive(r->fd, &question, sizeof(question), &fd, 1) != sizeof(question) ||
	    question.kind != DWARF_SCRATCH || fd < 0)
		return SCRATCH_NONE;
	int error = sandbox_limit_file(n_bytes);
	if (error < 0)
		return error;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* From here on libdw reads a file of somebody else. */
static int start(struct reader *r, size_t max_bytes)
{
	int error = sandbox_limit_memory(r->mapped_bytes + source_lines_image_bytes(r->lines) +
					 2 * (uint64_t)max_bytes + DWARF_SLACK_BYTES);

	return error == 0 ? source_lines_start(r->lines) : error;
}

static int open_lines(struct reader *r, const struct dwarf_question *question)
{
	size_t max_bytes = (size_t)question->value;

	if (r->lines)
		return -EALREADY;
	r->scratch = (struct scratch){ .max_bytes = SCRATCH_FILE_MAX_BYTES,
				       .open = open_scratch,
				       .open_data = r };
	int error = source_lines_new(r->file, max_bytes, question->has_scratch ? &r->scratch : NULL,
				     &r->lines);
	return error == 0 ? start(r, max_bytes) : error;
}

static int say_error(struct reader *r, int error)
{
	return error < 0 ? say(r, DWARF_ERROR, (uint64_t)-error) : say(r, DWARF_NOTHING, 0);
}

static int answer_open(struct reader *r, const struct dwarf_question *question)
{
	int error = open_lines(r, question);

	return error == 0 ? say(r, DWARF_IS_OPEN, source_lines_has_scratch(r->lines))
			  : say_error(r, error);
}

static int answer_frames(struct reader *r, uint64_t vaddr)
{
	struct arena strings;
	int error = -EINVAL;

	arena_init(&strings, SOURCE_FRAMES_MAX * (DWARF_NAME_MAX_BYTES + DWARF_PATH_MAX_BYTES));
	if (r->lines)
		error = source_lines_frames(r->lines, vaddr, &strings, &r->frames);
	error = error == 0 ? say(r, DWARF_HAS_FRAMES, 0) : say_error(r, error);
	arena_fini(&strings);
	return error;
}

static int answer(struct reader *r, const struct dwarf_question *question)
{
	switch (question->kind) {
	case DWARF_OPEN:
		return answer_open(r, question);
	case DWARF_FRAMES:
		return answer_frames(r, question->value);
	default:
		return -EINVAL;
	}
}

void dwarf_answer_all(int fd, const struct bytes *file, uint64_t mapped_bytes)
{
	static struct reader r;
	struct dwarf_question question;

	r = (struct reader){ .fd = fd,
			     .file = file,
			     .mapped_bytes = mapped_bytes,
			     .message = BUF_INIT(DWARF_MESSAGE_MAX_BYTES) };
	while (channel_receive(fd, &question, sizeof(question), NULL, 0) == sizeof(question))
		if (answer(&r, &question) != 0)
			return;
}

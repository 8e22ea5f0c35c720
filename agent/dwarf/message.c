/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent and the processes that read DWARF say to each other. */
#include "agent/dwarf/message.h"

#include <errno.h>
#include <string.h>

#include "agent/util/macro.h"

struct head {
	uint32_t kind;
	uint32_t n_frames;
	uint64_t value;
};

/* Followed by the bytes of both texts. */
struct frame_head {
	uint32_t line;
	uint32_t n_function_bytes;
	uint32_t n_file_bytes;
};

/* How much of a text there is room for, when the heads of all frames must have theirs. */
static uint32_t room_for(const char *text, size_t max_bytes, size_t *n_left)
{
	size_t n = strnlen(text, max_bytes);

	if (n > *n_left)
		return 0;
	*n_left -= n;
	return (uint32_t)n;
}

static int write_frame(const struct source_frame *f, size_t *n_left, struct buf *message)
{
	struct frame_head head = { .line = f->line };

	head.n_function_bytes = room_for(f->function, DWARF_NAME_MAX_BYTES, n_left);
	head.n_file_bytes = room_for(f->file, DWARF_PATH_MAX_BYTES, n_left);
	int r = buf_append(message, &head, sizeof(head));
	if (r == 0)
		r = buf_append(message, f->function, head.n_function_bytes);
	return r == 0 ? buf_append(message, f->file, head.n_file_bytes) : r;
}

int dwarf_answer_write(const struct dwarf_answer *answer, struct buf *message)
{
	struct head head = { .kind = answer->kind, .value = answer->value };

	if (answer->kind == DWARF_HAS_FRAMES)
		head.n_frames = answer->frames->n;
	size_t n_left =
		DWARF_MESSAGE_MAX_BYTES - sizeof(head) - head.n_frames * sizeof(struct frame_head);
	int r = buf_append(message, &head, sizeof(head));
	for (uint32_t i = 0; r == 0 && i < head.n_frames; i++)
		r = write_frame(&answer->frames->items[i], &n_left, message);
	return r;
}

/* What is left of a message. */
struct cursor {
	const unsigned char *at;
	size_t n;
};

static bool take(struct cursor *c, void *to, size_t n)
{
	if (c->n < n)
		return false;
	memcpy(to, c->at, n);
	c->at += n;
	c->n -= n;
	return true;
}

/* text = byte{n}, none of them zero */
static int read_text(struct cursor *c, size_t n, size_t max_bytes, struct arena *strings,
		     const char **ret_text)
{
	if (n > max_bytes || n > c->n || memchr(c->at, '\0', n))
		return DWARF_MESSAGE_MALFORMED;
	char *text = arena_strndup(strings, (const char *)c->at, n);
	if (!text)
		return -ENOMEM;
	c->at += n;
	c->n -= n;
	*ret_text = text;
	return 0;
}

/* frame = line n_function n_file function file */
static int read_frame(struct cursor *c, struct arena *strings, struct source_frame *f)
{
	struct frame_head head;

	if (!take(c, &head, sizeof(head)) || head.line > INT32_MAX)
		return DWARF_MESSAGE_MALFORMED;
	f->line = head.line;
	int r = read_text(c, head.n_function_bytes, DWARF_NAME_MAX_BYTES, strings, &f->function);
	return r == 0 ? read_text(c, head.n_file_bytes, DWARF_PATH_MAX_BYTES, strings, &f->file)
		      : r;
}

/* frames = frame{n}, at least one where the kind has frames, and nothing behind them */
static int read_frames(struct cursor *c, const struct head *head, struct arena *strings,
		       struct source_frames *frames)
{
	int r = 0;

	if (!frames || head->n_frames == 0 || head->n_frames > SOURCE_FRAMES_MAX)
		return DWARF_MESSAGE_MALFORMED;
	frames->n = head->n_frames;
	for (uint32_t i = 0; r == 0 && i < frames->n; i++)
		r = read_frame(c, strings, &frames->items[i]);
	return r;
}

/* answer = kind n_frames value frames */
int dwarf_answer_read(const void *message, size_t n, struct arena *strings,
		      struct dwarf_answer *ret)
{
	struct cursor c = { message, n };
	struct head head;
	int r = 0;

	if (!take(&c, &head, sizeof(head)) || head.kind == 0 || head.kind >= DWARF_ANSWER_MAX)
		return DWARF_MESSAGE_MALFORMED;
	if (head.kind == DWARF_HAS_FRAMES)
		r = read_frames(&c, &head, strings, ret->frames);
	else if (head.n_frames > 0)
		r = DWARF_MESSAGE_MALFORMED;
	if (r == 0 && c.n > 0)
		r = DWARF_MESSAGE_MALFORMED;
	if (r != 0)
		return r;
	ret->kind = (enum dwarf_answer_kind)head.kind;
	ret->value = head.value;
	return 0;
}

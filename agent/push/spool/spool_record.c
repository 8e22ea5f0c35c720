/* SPDX-License-Identifier: Apache-2.0 */
/* What a spool writes. */
#include "agent/push/spool/spool_record.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "agent/util/buf.h"
#include "agent/util/clock.h"
#include "agent/util/zstd_frame.h"

/* A pprof is compressed already: this packs labels, and is there for its checksum. */
#define SPOOL_ZSTD_LEVEL 1
#define MAGIC_BYTES 7
#define VERSION 1
/* No byte of it twice, so that a search cannot begin in its middle. */
#define RECORD_MAGIC UINT32_C(0x7f524358)
#define CHECKSUM_AT 44

static const uint8_t segment_magic[MAGIC_BYTES] = { 'x', 'a', 's', 'p', 'o', 'o', 'l' };

static void put32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

void spool_segment_head(uint64_t id, uint8_t head[static SPOOL_SEGMENT_HEAD_BYTES])
{
	memcpy(head, segment_magic, MAGIC_BYTES);
	head[MAGIC_BYTES] = VERSION;
	put64(head + MAGIC_BYTES + 1, id);
}

enum spool_head_kind spool_segment_head_judge(const uint8_t *head, uint64_t id)
{
	if (memcmp(head, segment_magic, MAGIC_BYTES) != 0)
		return SPOOL_HEAD_DAMAGED;
	if (head[MAGIC_BYTES] > VERSION)
		return SPOOL_HEAD_NEWER;
	return head[MAGIC_BYTES] == VERSION && get64(head + MAGIC_BYTES + 1) == id
		       ? SPOOL_HEAD_OURS
		       : SPOOL_HEAD_DAMAGED;
}

static uint32_t checksum_of(const uint8_t *head, uint64_t segment)
{
	uint8_t copy[CHECKSUM_AT + sizeof(segment)];

	memcpy(copy, head, CHECKSUM_AT);
	copy[SPOOL_STATE_AT] = 0;
	put64(copy + CHECKSUM_AT, segment);
	return (uint32_t)crc32(0, copy, sizeof(copy));
}

static void add_text(struct buf *out, const char *text)
{
	uint8_t n[4];

	put32(n, (uint32_t)strlen(text));
	(void)buf_append(out, n, sizeof(n));
	(void)buf_append_str(out, text);
}

static void add_profile(struct buf *out, const struct push_profile *profile)
{
	uint8_t n[4];

	put32(n, (uint32_t)profile->n_labels);
	(void)buf_append(out, n, sizeof(n));
	for (size_t i = 0; i < profile->n_labels; i++) {
		add_text(out, profile->labels[i].name);
		add_text(out, profile->labels[i].value);
	}
	(void)buf_append(out, profile->bytes->data, profile->bytes->n);
}

static void put_head(const struct push_profile *profile, uint64_t deadline_ns, uint64_t segment,
		     uint32_t number, size_t n_frame, uint8_t *head)
{
	memset(head, 0, SPOOL_HEAD_BYTES);
	put32(head, RECORD_MAGIC);
	head[SPOOL_STATE_AT] = SPOOL_WAITS;
	put32(head + 8, (uint32_t)n_frame);
	put32(head + 12, (uint32_t)profile->bytes->n);
	put32(head + 16, number);
	put64(head + 24, deadline_ns);
	put64(head + 32, profile->n_samples);
	put32(head + CHECKSUM_AT, checksum_of(head, segment));
}

int spool_record_encode(const struct push_profile *profile, uint64_t deadline_ns, uint64_t segment,
			uint32_t number, uint8_t **ret_bytes, size_t *ret_n)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(SPOOL_MAX_PLAIN_BYTES);
	_cleanup_free_ uint8_t *frame = NULL;
	size_t n_frame;

	add_profile(&plain, profile);
	if (plain.failed)
		return -ENOMEM;
	int r = zstd_frame_pack((const uint8_t *)plain.data, plain.len, SPOOL_ZSTD_LEVEL, &frame,
				&n_frame);
	if (r < 0)
		return r;
	uint8_t *bytes = malloc(SPOOL_HEAD_BYTES + n_frame);
	if (!bytes)
		return -ENOMEM;
	put_head(profile, deadline_ns, segment, number, n_frame, bytes);
	memcpy(bytes + SPOOL_HEAD_BYTES, frame, n_frame);
	*ret_bytes = bytes;
	*ret_n = SPOOL_HEAD_BYTES + n_frame;
	return 0;
}

bool spool_record_head(const uint8_t *bytes, uint64_t segment, struct spool_record *ret_record)
{
	uint8_t state = bytes[SPOOL_STATE_AT];

	if (get32(bytes) != RECORD_MAGIC ||
	    get32(bytes + CHECKSUM_AT) != checksum_of(bytes, segment))
		return false;
	*ret_record = (struct spool_record){
		.done = state == SPOOL_DONE,
		.n_frame = get32(bytes + 8),
		.n_profile_bytes = get32(bytes + 12),
		.number = get32(bytes + 16),
		.deadline_ns = get64(bytes + 24),
		.n_samples = get64(bytes + 32),
	};
	return (state == SPOOL_DONE || state == SPOOL_WAITS) && ret_record->n_frame > 0 &&
	       ret_record->n_frame <= SPOOL_MAX_FRAME_BYTES &&
	       ret_record->n_profile_bytes <= PUSH_MAX_PROFILE_BYTES;
}

/* What is left of a frame to read. */
struct cursor {
	uint8_t *p;
	size_t n;
};

static bool take_u32(struct cursor *c, uint32_t *ret_value)
{
	if (c->n < sizeof(*ret_value))
		return false;
	*ret_value = get32(c->p);
	c->p += sizeof(*ret_value);
	c->n -= sizeof(*ret_value);
	return true;
}

/* The length before it makes room for the end of the text: it is moved there. */
static const char *take_text(struct cursor *c, size_t max_bytes)
{
	uint8_t *at = c->p;
	uint32_t n;

	if (!take_u32(c, &n) || n > max_bytes || n > c->n || memchr(c->p, '\0', n))
		return NULL;
	memmove(at, c->p, n);
	at[n] = '\0';
	c->p += n;
	c->n -= n;
	return (const char *)at;
}

static bool take_labels(struct cursor *c, struct push_labels *labels)
{
	uint32_t n;

	*labels = (struct push_labels){ 0 };
	if (!take_u32(c, &n) || n > PUSH_MAX_LABELS)
		return false;
	for (; labels->n < n; labels->n++) {
		struct push_label *label = &labels->items[labels->n];

		label->name = take_text(c, PUSH_MAX_LABEL_NAME_BYTES);
		label->value = label->name ? take_text(c, PUSH_MAX_LABEL_VALUE_BYTES) : NULL;
		if (!label->value)
			return false;
	}
	return true;
}

static int make_profile(const struct spool_record *record, const struct push_labels *labels,
			const struct cursor *rest, struct push_profile **ret_profile)
{
	_cleanup_(shared_bytes_unrefp) struct shared_bytes *bytes = NULL;
	uint8_t *copy = malloc(rest->n + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, rest->p, rest->n);
	int r = shared_bytes_new(copy, rest->n, &bytes);
	if (r == 0)
		r = push_profile_new(labels, bytes, ret_profile);
	if (r < 0)
		return r;
	(*ret_profile)->n_samples = record->n_samples;
	(*ret_profile)->deadline_ns = record->deadline_ns;
	(*ret_profile)->begin_ns = clock_mono_ns();
	return 0;
}

int spool_record_decode(const struct spool_record *record, const uint8_t *frame,
			struct push_profile **ret_profile)
{
	_cleanup_free_ uint8_t *plain = NULL;
	struct push_labels labels;
	struct cursor c;
	size_t n;
	int r = zstd_frame_unpack(frame, record->n_frame, SPOOL_MAX_PLAIN_BYTES, &plain, &n);

	if (r < 0)
		return r;
	c = (struct cursor){ plain, n };
	if (!take_labels(&c, &labels) || c.n != record->n_profile_bytes)
		return -EBADMSG;
	return make_profile(record, &labels, &c, ret_profile);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to name servers and their answers. */
#include "agent/discovery/dns_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

/* RFC 1035 §4.1.1 */
#define HEADER_BYTES 12
#define FLAG_ANSWER 0x8000
#define FLAG_TRUNCATED 0x0200
#define FLAG_RECURSION_DESIRED 0x0100
#define RCODE_MASK 0x000f
#define CLASS_INTERNET 1
/* RFC 1035 §2.3.4, §4.1.4 */
#define MAX_LABEL_BYTES 63
#define POINTER_BITS 0xc0

/* ---- what is asked -------------------------------------------------------------------------------- */

static void put_u16(struct dns_question *q, unsigned int value)
{
	q->bytes[q->n++] = (uint8_t)(value >> 8);
	q->bytes[q->n++] = (uint8_t)value;
}

/* name = label { "." label } [ "." ] | "." */
static int put_name(struct dns_question *q, const char *name)
{
	size_t end = HEADER_BYTES + DNS_MAX_NAME_BYTES;

	if (strcmp(name, ".") == 0)
		name = "";
	while (*name) {
		size_t n = strcspn(name, ".");

		if (n == 0 || n > MAX_LABEL_BYTES || q->n + 1 + n + 1 > end)
			return -EINVAL;
		q->bytes[q->n++] = (uint8_t)n;
		memcpy(q->bytes + q->n, name, n);
		q->n += n;
		name += n + (name[n] == '.');
	}
	q->bytes[q->n++] = 0;
	return 0;
}

int dns_question_write(const char *name, enum dns_type type, uint16_t id,
		       struct dns_question *ret_question)
{
	struct dns_question q = { 0 };
	int r;

	if (!*name)
		return -EINVAL;
	put_u16(&q, id);
	put_u16(&q, FLAG_RECURSION_DESIRED);
	put_u16(&q, 1);
	q.n = HEADER_BYTES;
	r = put_name(&q, name);
	if (r < 0)
		return r;
	put_u16(&q, type);
	put_u16(&q, CLASS_INTERNET);
	*ret_question = q;
	return 0;
}

/* ---- what is answered ----------------------------------------------------------------------------- */

struct reader {
	const uint8_t *bytes;
	size_t n;
	size_t at; /* beyond n: something was cut */
	enum dns_type type;
};

static unsigned int u16_at(const struct reader *r, size_t at)
{
	return at + 2 <= r->n ? (unsigned int)r->bytes[at] << 8 | r->bytes[at + 1] : 0;
}

static unsigned int take_u16(struct reader *r)
{
	unsigned int value = u16_at(r, r->at);

	r->at += 2;
	return value;
}

/* As master files have it: what would be read otherwise has a '\' before it, what cannot be printed is \DDD. */
static void put_label(const uint8_t *label, size_t n, char *text, size_t *n_text)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t c = label[i];

		if (c <= ' ' || c > '~') {
			text[(*n_text)++] = '\\';
			text[(*n_text)++] = (char)('0' + c / 100);
			text[(*n_text)++] = (char)('0' + c / 10 % 10);
			text[(*n_text)++] = (char)('0' + c % 10);
			continue;
		}
		if (strchr(".\\\"();@$ ", c))
			text[(*n_text)++] = '\\';
		text[(*n_text)++] = (char)c;
	}
	text[(*n_text)++] = '.';
}

/* A pointer leads back only, so each is shorter than the one before. False: that is no name. `text` may be NULL. */
static bool take_name(struct reader *r, char *text)
{
	char scratch[DNS_NAME_TEXT_BYTES];
	size_t at = r->at, limit = r->at;
	size_t n_name = 1, n_text = 0;
	bool followed = false;

	text = text ? text : scratch;
	while (at < r->n && r->bytes[at] != 0) {
		unsigned int n = r->bytes[at];

		if ((n & POINTER_BITS) == POINTER_BITS) {
			size_t to = u16_at(r, at) & 0x3fff;

			if (at + 2 > r->n || to >= limit)
				return false;
			r->at = followed ? r->at : at + 2;
			followed = true;
			at = limit = to;
			continue;
		}
		n_name += n + 1;
		if (n > MAX_LABEL_BYTES || n_name > DNS_MAX_NAME_BYTES || at + 1 + n >= r->n)
			return false;
		put_label(r->bytes + at + 1, n, text, &n_text);
		at += n + 1;
	}
	if (n_text == 0)
		text[n_text++] = '.';
	text[n_text] = '\0';
	r->at = followed ? r->at : at + 1;
	return at < r->n;
}

/* The data of one record, which ends at `end`. */
static bool take_data(struct reader *r, size_t end, struct dns_record *record)
{
	size_t n_address = r->type == DNS_A ? 4 : 16;

	switch (r->type) {
	case DNS_A:
	case DNS_AAAA:
		if (end - r->at != n_address)
			return false;
		memcpy(record->address, r->bytes + r->at, n_address);
		r->at = end;
		return true;
	case DNS_SRV:
		r->at += 4;
		record->port = (uint16_t)take_u16(r);
		break;
	case DNS_MX:
		r->at += 2;
		break;
	case DNS_NS:
		break;
	}
	return r->at < end && take_name(r, record->target) && r->at == end;
}

static struct dns_record *add_record(struct dns_answer *answer)
{
	struct dns_record *records =
		reallocarray(answer->records, answer->n_records + 1, sizeof(*records));

	if (!records)
		return NULL;
	answer->records = records;
	records[answer->n_records] = (struct dns_record){ 0 };
	return &records[answer->n_records++];
}

/* Of other types, such as the alias that leads to an address, only the length counts. */
static int take_record(struct reader *r, struct dns_answer *answer)
{
	struct dns_record *record;
	unsigned int type, class;
	size_t end;

	if (!take_name(r, NULL))
		return DNS_MALFORMED;
	type = take_u16(r);
	class = take_u16(r);
	r->at += 4; /* how long it may be kept */
	end = take_u16(r);
	end += r->at;
	if (end > r->n)
		return DNS_MALFORMED;
	if (type != (unsigned int)r->type || class != CLASS_INTERNET) {
		r->at = end;
		return DNS_READ;
	}
	record = add_record(answer);
	if (!record)
		return -ENOMEM;
	return take_data(r, end, record) ? DNS_READ : DNS_MALFORMED;
}

static int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* Names are alike whatever their case; the lengths between the labels are no letters. */
static bool is_question(const struct dns_question *q, const uint8_t *bytes, size_t n)
{
	if (n < q->n)
		return false;
	for (size_t i = HEADER_BYTES; i < q->n; i++)
		if (lower(bytes[i]) != lower(q->bytes[i]))
			return false;
	return true;
}

/* A server that could not read the question need not repeat it. */
static bool is_ours(const struct dns_question *q, const struct reader *r)
{
	if (r->n < HEADER_BYTES || memcmp(r->bytes, q->bytes, 2) != 0 ||
	    !(u16_at(r, 2) & FLAG_ANSWER))
		return false;
	if (u16_at(r, 4) == 0)
		return (u16_at(r, 2) & RCODE_MASK) != 0;
	return u16_at(r, 4) == 1 && is_question(q, r->bytes, r->n);
}

static enum dns_type type_of(const struct dns_question *q)
{
	return q->bytes[q->n - 4] << 8 | q->bytes[q->n - 3];
}

void dns_answer_fini(struct dns_answer *answer)
{
	free(answer->records);
	*answer = (struct dns_answer){ 0 };
}

static int read_records(struct reader *r, size_t n, struct dns_answer *answer)
{
	int outcome = DNS_READ;

	for (size_t i = 0; outcome == DNS_READ && i < n; i++)
		outcome = take_record(r, answer);
	return outcome;
}

int dns_answer_read(const struct dns_question *q, const void *bytes, size_t n,
		    struct dns_answer *ret_answer)
{
	struct reader r = { .bytes = bytes, .n = n, .at = q->n, .type = type_of(q) };
	struct dns_answer answer = { 0 };
	int outcome = DNS_READ;

	if (!is_ours(q, &r))
		return DNS_FOREIGN;
	answer.rcode = u16_at(&r, 2) & RCODE_MASK;
	answer.truncated = u16_at(&r, 2) & FLAG_TRUNCATED;
	if (answer.rcode == DNS_OK && !answer.truncated)
		outcome = read_records(&r, u16_at(&r, 6), &answer);
	if (outcome == DNS_READ)
		*ret_answer = answer;
	else
		dns_answer_fini(&answer);
	return outcome;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a name server's answer. */
#include "agent/discovery/dns_answer.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <resolv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* RFC 1035 §4.1.1 */
#define FLAG_TRUNCATED 0x0200

struct reader {
	const uint8_t *bytes, *end;
	const uint8_t *at; /* never beyond the end */
	enum dns_type type;
};

static bool take_u16(struct reader *r, unsigned int *ret_value)
{
	if (r->end - r->at < NS_INT16SZ)
		return false;
	*ret_value = (unsigned int)r->at[0] << 8 | r->at[1];
	r->at += NS_INT16SZ;
	return true;
}

static bool skip(struct reader *r, ptrdiff_t n)
{
	if (r->end - r->at < n)
		return false;
	r->at += n;
	return true;
}

/* As master files have it, with a dot at the end. */
static bool take_name(struct reader *r, char text[static DNS_NAME_TEXT_BYTES])
{
	int n = dn_expand(r->bytes, r->end, r->at, text, DNS_NAME_TEXT_BYTES - 1);

	if (n < 0)
		return false;
	memcpy(text + strlen(text), ".", sizeof("."));
	return skip(r, n);
}

/* The data of one record, which ends at `end`. */
static bool take_data(struct reader *r, const uint8_t *end, struct dns_record *record)
{
	size_t n_address = r->type == DNS_A ? NS_INADDRSZ : NS_IN6ADDRSZ;
	unsigned int port = 0;

	switch (r->type) {
	case DNS_A:
	case DNS_AAAA:
		memcpy(record->address, r->at, (size_t)(end - r->at) == n_address ? n_address : 0);
		return (size_t)(end - r->at) == n_address;
	case DNS_SRV:
		if (!skip(r, 2 * NS_INT16SZ) || !take_u16(r, &port))
			return false;
		record->port = (uint16_t)port;
		break;
	case DNS_MX:
		if (!skip(r, NS_INT16SZ))
			return false;
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
	char owner[DNS_NAME_TEXT_BYTES];
	unsigned int type, class, n;

	if (!take_name(r, owner) || !take_u16(r, &type) || !take_u16(r, &class) ||
	    !skip(r, NS_INT32SZ) || !take_u16(r, &n))
		return -EBADMSG;
	const uint8_t *end = r->at + n;

	if (r->end - r->at < (ptrdiff_t)n)
		return -EBADMSG;
	if (type == (unsigned int)r->type && class == ns_c_in) {
		struct dns_record *record = add_record(answer);

		if (!record)
			return -ENOMEM;
		if (!take_data(r, end, record))
			return -EBADMSG;
	}
	r->at = end;
	return 0;
}

/* The header, and the question that it repeats. */
static bool take_header(struct reader *r, unsigned int *ret_n_records)
{
	char name[DNS_NAME_TEXT_BYTES];
	unsigned int flags, n_questions;

	return skip(r, NS_INT16SZ) && take_u16(r, &flags) && !(flags & FLAG_TRUNCATED) &&
	       take_u16(r, &n_questions) && n_questions == 1 && take_u16(r, ret_n_records) &&
	       skip(r, 2 * NS_INT16SZ) && take_name(r, name) && skip(r, NS_QFIXEDSZ);
}

void dns_answer_fini(struct dns_answer *answer)
{
	free(answer->records);
	*answer = (struct dns_answer){ 0 };
}

int dns_answer_read(enum dns_type type, const void *bytes, size_t n, struct dns_answer *ret_answer)
{
	struct reader r = { bytes, (const uint8_t *)bytes + n, bytes, type };
	_cleanup_dns_answer_ struct dns_answer answer = { 0 };
	unsigned int n_records = 0;
	int err = take_header(&r, &n_records) ? 0 : -EBADMSG;

	for (unsigned int i = 0; err == 0 && i < n_records; i++)
		err = take_record(&r, &answer);
	if (err < 0)
		return err;
	*ret_answer = answer;
	answer = (struct dns_answer){ 0 };
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are right, and wrong ones. */
#include <errno.h>
#include <string.h>

#include "agent/discovery/dns_answer.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"

/* Header with flags and counts, and the question for a.b. */
#define HEADER(flags, n_questions, n_answers) \
	"\x12\x34" flags "\0" n_questions "\0" n_answers "\0\0\0\0"
#define QUESTION "\1a\1b\0\0\1\0\1"
#define SRV_QUESTION "\1a\1b\0\0\x21\0\1"
#define A_RECORD "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\x0a\1\2\3"
#define SRV_HEAD "\xc0\x0c\0\x21\0\1\0\0\0\x1e\0"

static const struct row {
	const char *name;
	enum dns_type type;
	const char *bytes;
	size_t n;
	int result;
	const char *expected; /* "target:port …", or what is not taken: NULL */
} rows[] = {
#define ROW(name, type, bytes, result, expected)                       \
	{                                                              \
		name, type, bytes, sizeof(bytes) - 1, result, expected \
	}
	ROW("an address", DNS_A, HEADER("\x81\x80", "\1", "\1") QUESTION A_RECORD, 0, "10.1.2.3"),
	ROW("the question in capitals", DNS_A,
	    HEADER("\x81\x80", "\1", "\1") "\1A\1B\0\0\1\0\1" A_RECORD, 0, "10.1.2.3"),
	ROW("an alias before", DNS_A,
	    HEADER("\x81\x80", "\1", "\2") QUESTION
	    "\xc0\x0c\0\5\0\1\0\0\0\x1e\0\2\xc0\x0e" A_RECORD,
	    0, "10.1.2.3"),
	ROW("another class", DNS_A,
	    HEADER("\x81\x80", "\1", "\1") QUESTION "\xc0\x0c\0\1\0\3\0\0\0\x1e\0\4\x0a\1\2\3", 0,
	    ""),
	ROW("bytes behind", DNS_A, HEADER("\x81\x80", "\1", "\1") QUESTION A_RECORD "x", 0,
	    "10.1.2.3"),
	ROW("nothing", DNS_A, HEADER("\x81\x80", "\1", "\0") QUESTION, 0, ""),
	ROW("truncated", DNS_A, HEADER("\x83\x80", "\1", "\0") QUESTION, -EBADMSG, NULL),
	ROW("escapes", DNS_SRV,
	    HEADER("\x81\x80", "\1", "\1") SRV_QUESTION SRV_HEAD
	    "\x0f\0\1\0\2\0\x50\4.\\ \7\2\xff\"\0",
	    0, "\\.\\\\\\032\\007.\\255\\\".:80"),
	ROW("the root", DNS_SRV,
	    HEADER("\x81\x80", "\1", "\1") SRV_QUESTION SRV_HEAD "\7\0\1\0\2\0\x50\0", 0, ".:80"),
	ROW("a pointer to a pointer", DNS_SRV,
	    HEADER("\x81\x80", "\1", "\1") SRV_QUESTION SRV_HEAD "\x0a\0\1\0\2\0\x50\1c\xc0\x15", 0,
	    "c.a.b.:80"),

	ROW("no question", DNS_A, HEADER("\x81\x80", "\0", "\0"), -EBADMSG, NULL),
	ROW("two questions", DNS_A, HEADER("\x81\x80", "\2", "\0") QUESTION QUESTION, -EBADMSG,
	    NULL),
	ROW("cut in the header", DNS_A, "\x12\x34\x81\x80\0\1\0", -EBADMSG, NULL),
	ROW("cut in the question", DNS_A, HEADER("\x81\x80", "\1", "\0") "\1a\1b", -EBADMSG, NULL),
	ROW("empty", DNS_A, "", -EBADMSG, NULL),

	ROW("no record", DNS_A, HEADER("\x81\x80", "\1", "\1") QUESTION, -EBADMSG, NULL),
	ROW("cut in a name", DNS_A, HEADER("\x81\x80", "\1", "\1") QUESTION "\xc0", -EBADMSG, NULL),
	ROW("cut in a record", DNS_A, HEADER("\x81\x80", "\1", "\1") QUESTION "\xc0\x0c\0\1\0",
	    -EBADMSG, NULL),
	ROW("cut in the data", DNS_A,
	    HEADER("\x81\x80", "\1", "\1") QUESTION "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\x0a\1\2",
	    -EBADMSG, NULL),
	ROW("a short address", DNS_A,
	    HEADER("\x81\x80", "\1", "\1") QUESTION "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\3\x0a\1\2",
	    -EBADMSG, NULL),
	ROW("a pointer to itself", DNS_A,
	    HEADER("\x81\x80", "\1", "\1") QUESTION "\xc0\x15\0\1\0\1\0\0\0\x1e\0\4\x0a\1\2\3",
	    -EBADMSG, NULL),
	ROW("a pointer ahead", DNS_A,
	    HEADER("\x81\x80", "\1", "\1") QUESTION "\xc0\xff\0\1\0\1\0\0\0\x1e\0\4\x0a\1\2\3",
	    -EBADMSG, NULL),
	ROW("a long label", DNS_A, HEADER("\x81\x80", "\1", "\1") QUESTION "\x40" A_RECORD,
	    -EBADMSG, NULL),
	ROW("SRV without a target", DNS_SRV,
	    HEADER("\x81\x80", "\1", "\1") SRV_QUESTION SRV_HEAD "\6\0\1\0\2\0\x50", -EBADMSG,
	    NULL),
	ROW("SRV without a port", DNS_SRV,
	    HEADER("\x81\x80", "\1", "\1") SRV_QUESTION SRV_HEAD "\2\0\1", -EBADMSG, NULL),
	ROW("SRV and more", DNS_SRV,
	    HEADER("\x81\x80", "\1", "\1") SRV_QUESTION SRV_HEAD "\x08\0\1\0\2\0\x50\0x", -EBADMSG,
	    NULL),
#undef ROW
};

static void write_answer(const struct row *row, const struct dns_answer *a, struct buf *out)
{
	for (size_t i = 0; i < a->n_records; i++) {
		const struct dns_record *r = &a->records[i];

		if (row->type == DNS_A)
			(void)buf_printf(out, "%s%u.%u.%u.%u", i > 0 ? " " : "", r->address[0],
					 r->address[1], r->address[2], r->address[3]);
		else
			(void)buf_printf(out, "%s%s:%u", i > 0 ? " " : "", r->target, r->port);
	}
}

static void test_answer(void **state)
{
	const struct row *row = *state;
	_cleanup_dns_answer_ struct dns_answer answer = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(10000);
	/* In a block of its own size, so that each read past it is seen. */
	_cleanup_free_ char *bytes = malloc(row->n + (row->n == 0));

	assert_non_null(bytes);
	memcpy(bytes, row->bytes, row->n);
	assert_int_equal(dns_answer_read(row->type, bytes, row->n, &answer), row->result);
	if (row->result != 0)
		return;
	write_answer(row, &answer, &text);
	assert_string_equal(buf_str(&text), row->expected);
}

/* The longest name, each byte an escape; and one byte more, by way of a pointer. */
static void test_longest_target(void **state)
{
	_cleanup_dns_answer_ struct dns_answer answer = { 0 };
	_cleanup_buf_ struct buf bytes = BUF_INIT(10000);

	(void)state;
	(void)buf_append(&bytes, HEADER("\x81\x80", "\1", "\1") "\1a\1b\0\0\2\0\1", 12 + 9);
	(void)buf_append(&bytes, "\xc0\x0c\0\2\0\1\0\0\0\x1e\0\xff", 12);
	for (int i = 0; i < 4; i++) {
		int n = i < 3 ? 63 : 61;

		(void)buf_append_char(&bytes, (char)n);
		while (n-- > 0)
			(void)buf_append_char(&bytes, '\1');
	}
	(void)buf_append_char(&bytes, '\0');
	assert_int_equal(dns_answer_read(DNS_NS, bytes.data, bytes.len, &answer), 0);
	assert_int_equal(strlen(answer.records[0].target), 4 * 250 + 4);
	dns_answer_fini(&answer);
	bytes.data[bytes.len - 1] = '\1';
	(void)buf_append(&bytes, "x", 2);
	bytes.data[31] = 1;
	bytes.data[32] = 1;
	assert_int_equal(dns_answer_read(DNS_NS, bytes.data, bytes.len, &answer), -EBADMSG);
}

static const struct unit_test tests[] = {
	TEST(test_longest_target),
	TEST_ROWS(test_answer, rows, name),
};

TEST_MAIN(tests)

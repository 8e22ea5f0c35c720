/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to name servers and their answers, as they are sent (RFC 1035 §4). Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_DNS_MESSAGE_H
#define XAGENT_AGENT_DISCOVERY_DNS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

/* Types of records (RFC 1035 §3.2.2, RFC 3596, RFC 2782). */
enum dns_type { DNS_A = 1, DNS_NS = 2, DNS_MX = 15, DNS_AAAA = 28, DNS_SRV = 33 };

/* RFC 1035 §3.1: of a name as it is sent. */
#define DNS_MAX_NAME_BYTES 255
/* As text each byte may become \DDD; the dot at the end, NUL. */
#define DNS_NAME_TEXT_BYTES (4 * DNS_MAX_NAME_BYTES + 1)
/* What a length of two bytes can say. */
#define DNS_MAX_MESSAGE_BYTES 65535

/* The name as a label sequence, and type and class. */
struct dns_question {
	uint8_t bytes[12 + DNS_MAX_NAME_BYTES + 4];
	size_t n;
};

/* `id` is told back by the answer. 0, or -EINVAL: that is no name (too long, an empty label). */
int dns_question_write(const char *name, enum dns_type type, uint16_t id,
		       struct dns_question *ret_question);

enum dns_rcode { DNS_OK = 0, DNS_NO_SUCH_NAME = 3 }; /* others say that the server failed */

struct dns_record {
	union {
		uint8_t address[16];		  /* A: the first four bytes; AAAA */
		char target[DNS_NAME_TEXT_BYTES]; /* NS, MX, SRV; ends with a dot */
	};
	uint16_t port; /* SRV */
};

struct dns_answer {
	unsigned int rcode;
	bool truncated;		    /* then there are no records: ask again over TCP */
	struct dns_record *records; /* of the type that was asked for */
	size_t n_records;
};

void dns_answer_fini(struct dns_answer *answer);
#define _cleanup_dns_answer_ _cleanup_(dns_answer_fini)

/* DNS_FOREIGN: an answer to another question; DNS_MALFORMED: to this one, but it does not follow the format; or -ENOMEM. */
enum dns_read_outcome { DNS_READ = 0, DNS_FOREIGN = 1, DNS_MALFORMED = 2 };
int dns_answer_read(const struct dns_question *question, const void *bytes, size_t n,
		    struct dns_answer *ret_answer);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a name server's answer, as it is sent (RFC 1035 §4). Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_DNS_ANSWER_H
#define XAGENT_AGENT_DISCOVERY_DNS_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

/* Types of records (RFC 1035 §3.2.2, RFC 3596, RFC 2782). */
enum dns_type { DNS_A = 1, DNS_NS = 2, DNS_MX = 15, DNS_AAAA = 28, DNS_SRV = 33 };

/* RFC 1035 §3.1: of a name as it is sent. */
#define DNS_MAX_NAME_BYTES 255
/* As text each byte may become \DDD; the dot at the end, NUL. */
#define DNS_NAME_TEXT_BYTES (4 * DNS_MAX_NAME_BYTES + 1)

struct dns_record {
	union {
		uint8_t address[16];		  /* A: the first four bytes; AAAA */
		char target[DNS_NAME_TEXT_BYTES]; /* NS, MX, SRV; ends with a dot */
	};
	uint16_t port; /* SRV */
};

struct dns_answer {
	struct dns_record *records; /* of the type that was asked for */
	size_t n_records;
};

void dns_answer_fini(struct dns_answer *answer);
#define _cleanup_dns_answer_ _cleanup_(dns_answer_fini)

/* `bytes` answer the question for records of this type. 0; -EBADMSG: they do not follow the format, or are not all of the answer; -ENOMEM. */
int dns_answer_read(enum dns_type type, const void *bytes, size_t n, struct dns_answer *ret_answer);

#endif

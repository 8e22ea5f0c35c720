/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a name server's answer: the first says to what question. What is taken becomes targets. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/dns_targets.h"

#define HEADER_BYTES 12
/* In the third byte. */
#define FLAG_TRUNCATED 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_answer(const struct dns_answer *answer, enum dns_type type)
{
	struct dns_targets_options options = { .type = type, .port = 80 };
	_cleanup_target_list_ struct target_list list = { 0 };

	if (dns_targets_of_answer(&options, "a.b", answer, &list) < 0 || list.n > answer->n_records)
		abort();
	for (size_t i = 0; i < list.n; i++)
		if (!labels_get(list.items[i], "__address__"))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t question[] = { 1, 'a', 1, 'b', 0, 0, 1, 0, 1 };
	static const enum dns_type types[] = { DNS_A, DNS_AAAA, DNS_SRV, DNS_MX, DNS_NS };
	enum dns_type type = types[size > 0 ? data[0] % 5 : 0];
	_cleanup_dns_answer_ struct dns_answer answer = { 0 };
	_cleanup_free_ uint8_t *bytes = malloc(size + 1);

	if (!bytes)
		abort();
	if (size > 0)
		memcpy(bytes, data + 1, size - 1);
	/* One question for a.b: what is to be found out here is behind it. */
	if (size > sizeof(question) + HEADER_BYTES) {
		bytes[2] &= (uint8_t)~FLAG_TRUNCATED;
		memcpy(bytes + 4, "\0\1", 2);
		memcpy(bytes + HEADER_BYTES, question, sizeof(question));
	}
	if (size > 0 && dns_answer_read(type, bytes, size - 1, &answer) == 0)
		check_answer(&answer, type);
	return 0;
}

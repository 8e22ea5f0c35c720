/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a name server's answer: the first says to what question. What is taken becomes targets. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery/dns_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_answer(const struct dns_answer *answer, enum dns_type type)
{
	struct dns_targets_options options = { .type = type, .port = 80 };
	_cleanup_target_list_ struct target_list list = { 0 };

	if (answer->truncated && answer->n_records > 0)
		abort();
	if (dns_targets_of_answer(&options, "a.b", answer, &list) < 0 || list.n > answer->n_records)
		abort();
	for (size_t i = 0; i < list.n; i++)
		if (!labels_get(list.items[i], "__address__"))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum dns_type types[] = { DNS_A, DNS_AAAA, DNS_SRV, DNS_MX, DNS_NS };
	enum dns_type type = types[size > 0 ? data[0] % 5 : 0];
	_cleanup_dns_answer_ struct dns_answer answer = { 0 };
	_cleanup_free_ uint8_t *bytes = malloc(size + 1);
	struct dns_question question;

	if (!bytes || dns_question_write("a.b", type, 0, &question) < 0)
		abort();
	if (size > 0)
		memcpy(bytes, data + 1, size - 1);
	/* Whose answer it is, is not what is to be found out here. */
	if (size > question.n) {
		memcpy(bytes, question.bytes, 2);
		memcpy(bytes + 12, question.bytes + 12, question.n - 12);
	}
	if (size > 0 && dns_answer_read(&question, bytes, size - 1, &answer) == DNS_READ)
		check_answer(&answer, type);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the kernel half can run here; if not, the reason is printed and the test is to be skipped. */
#ifndef XAGENT_TESTS_UNIT_AGENT_SAMPLE_REFUSED_H
#define XAGENT_TESTS_UNIT_AGENT_SAMPLE_REFUSED_H

#include <stdbool.h>
#include <stdio.h>

#include "agent/sample/refusal.h"

static inline bool refused(void)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct refusal_facts facts;

	refusal_facts_read(&facts);
	if (!refusal_expected(&facts, &why))
		return false;
	printf("skip: %s\n", buf_str(&why));
	return true;
}

#endif

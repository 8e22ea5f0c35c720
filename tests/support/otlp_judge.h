/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a request of OTLP profiles is as the specification has it: the zero value first in each table, no row twice, none that nobody refers
 * to, no reference that leads nowhere, one value a sample and no times, attributes of different names, valid times.
 */
#ifndef XAGENT_TESTS_SUPPORT_OTLP_JUDGE_H
#define XAGENT_TESTS_SUPPORT_OTLP_JUDGE_H

#include "agent/encode/otlp.pb-c.h"
#include "agent/util/buf.h"

/* Appends a line for each mistake. */
void otlp_judge(const Otlp__Profiles__ExportProfilesServiceRequest *request, struct buf *mistakes);

#endif

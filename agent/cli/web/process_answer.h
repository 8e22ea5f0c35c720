/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether processes are profiled, over HTTP:
 *
 *	{ "processes": [process_json.h …], "why" }
 *
 * "why" is there where the answer is not what was asked for. Loop thread.
 */
#ifndef XAGENT_AGENT_CLI_WEB_PROCESS_ANSWER_H
#define XAGENT_AGENT_CLI_WEB_PROCESS_ANSWER_H

#include <stdint.h>

#include "agent/http/server.h"

struct agent;

/* More than a person looks through. */
#define PROCESS_ANSWER_MAX 50

/* Answers later: a process, or with pid 0 those with the text in name, executable, service name, or, where all is told, command line, whatever
 * its case; PROCESS_ANSWER_MAX at most. */
void process_answer(struct agent *a, uint32_t pid, const char *name, const struct http_call *call,
		    struct http_answer *answer);

#endif

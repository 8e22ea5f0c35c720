/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is told what. The agent sees every process of the host with rights that its callers do not have, and a configuration that may
 * be root's alone; so what it says depends on who asks:
 *
 *	anybody who reaches it		what profiles show anyway: service names and other labels of series, executables, names of
 *					processes (comm), names of functions; how components are; counters
 *	whoever has authenticated	besides: arguments, exports and debug information of components (targets with command lines,
 *					environments, annotations), the search in command lines, the support bundle
 *
 * Authenticated is who has shown a password of the http block's `auth`, or a certificate where nobody gets in without one. A search is
 * an answer as well: what is not told must not be searched, or it is read letter by letter.
 */
#ifndef XAGENT_AGENT_CLI_WEB_DISCLOSURE_H
#define XAGENT_AGENT_CLI_WEB_DISCLOSURE_H

#include "agent/http/server.h"

enum disclosure { DISCLOSE_PUBLIC, DISCLOSE_ALL };

static inline enum disclosure disclosure_to(const struct http_call *call)
{
	return http_call_is_authenticated(call) ? DISCLOSE_ALL : DISCLOSE_PUBLIC;
}

/* For an answer of which nothing may be told. */
static inline void disclosure_refuse(struct http_answer *answer, const char *what)
{
	answer->status = 403;
	(void)buf_printf(&answer->body,
			 "%s is given to who has authenticated only: set a password in the configuration, "
			 "http { auth { basic { … } } }, and ask with it\n",
			 what);
}

#endif

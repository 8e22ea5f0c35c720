/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `xagent run` without a configuration: this whole host into the built-in store, and what a person is told of it.
 */
#ifndef XAGENT_AGENT_CLI_RUN_QUICK_START_H
#define XAGENT_AGENT_CLI_RUN_QUICK_START_H

#include <stdint.h>

#include "agent/util/buf.h"

/* What the text is called in diagnostics and in the support bundle. */
#define QUICK_START_NAME "built-in"

/* Where else profiles go; NULL: to no such server. */
struct quick_start_servers {
	const char *push_url; /* Pyroscope */
	const char *otlp_url; /* OpenTelemetry's protocol */
};

/* What is wrong with the URL of a server, as a sentence, or NULL. */
const char *quick_start_url_problem(const char *url);

/* Appends the configuration. 0 or -errno. */
int quick_start_text(const struct quick_start_servers *servers, struct buf *out);

/* Where the page is: listen address as it was asked for, port as it was bound, prefix of web pages. Pure. */
void quick_start_put_address(const char *listen, uint16_t port, const char *prefix,
			     struct buf *out);

/* What is said once it runs, and when it has ended: whole lines. Pure. */
void quick_start_put_begin(const char *address, const struct quick_start_servers *servers,
			   struct buf *out);
void quick_start_put_end(struct buf *out);

#endif

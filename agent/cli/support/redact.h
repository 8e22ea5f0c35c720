/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts for people outside: configurations without their secrets, and any other text without those secrets.
 *
 * What is a secret is known by the tables of arguments. An expression that yields one is replaced as a whole, unless it only names
 * where the secret comes from; so is one whose meaning no table knows, as the arguments of a declared component; comments are left
 * out, for what was commented out. Pure.
 */
#ifndef XAGENT_AGENT_CLI_SUPPORT_REDACT_H
#define XAGENT_AGENT_CLI_SUPPORT_REDACT_H

#include <stddef.h>

#include "agent/cli/support/secret_texts.h"
#include "agent/util/buf.h"

#define REDACTED "(secret)"

struct redactor {
	struct secret_texts texts;
};

void redactor_fini(struct redactor *r);
#define _cleanup_redactor_ _cleanup_(redactor_fini)

enum redact_outcome {
	REDACTED_TEXT,
	REDACT_UNREADABLE, /* not the language: nothing was appended, all its literals count as secrets */
};

/* Appends a configuration to `out`, and remembers its secrets. An outcome, or -errno (-E2BIG: more secrets than can be looked for). */
int redact_config(struct redactor *r, const char *text, size_t n, struct buf *out);

/* Appends any text, without the secrets seen so far and without who logs in in URLs. 0 or -errno. */
int redact_text(const struct redactor *r, const char *text, size_t n, struct buf *out);

#endif

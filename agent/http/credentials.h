/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials of a request: texts of the configuration, or files that are read anew for each request, so that a rotated
 * secret is used at once. */
#ifndef XAGENT_AGENT_HTTP_CREDENTIALS_H
#define XAGENT_AGENT_HTTP_CREDENTIALS_H

#include "agent/http/client.h"

/* A secret in a file; more is not a secret. */
#define CREDENTIALS_MAX_SECRET_BYTES (64 << 10)

/* NULL: not set. */
struct http_credentials {
	const char *basic_username, *basic_password, *basic_password_file;
	const char *bearer_token, *bearer_token_file;
	const char *authorization_type; /* NULL: Bearer */
	const char *authorization_credentials, *authorization_credentials_file;
};

/* For one request. */
struct http_secrets {
	struct buf password, authorization;
};

#define HTTP_SECRETS_INIT                                                           \
	((struct http_secrets){ .password = BUF_INIT(CREDENTIALS_MAX_SECRET_BYTES), \
				.authorization = BUF_INIT(2 * CREDENTIALS_MAX_SECRET_BYTES) })

void http_secrets_fini(struct http_secrets *secrets);

/* Reads what there is and points the options to it. 0, or -errno with a sentence in `error`, which has HTTP_MAX_ERROR_BYTES bytes. */
int http_secrets_read(const struct http_credentials *credentials, struct http_secrets *secrets,
		      struct http_request_options *options, char *error);

/* Appends a file's content without white space at its ends; else as above. */
int http_secret_file_read(const char *path, struct buf *out, char *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials of a request. */
#include "agent/http/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "agent/util/file.h"
#include "agent/util/str.h"

void http_secrets_fini(struct http_secrets *secrets)
{
	buf_fini(&secrets->password);
	buf_fini(&secrets->authorization);
}

int http_secret_file_read(const char *path, struct buf *out, char *error)
{
	_cleanup_buf_ struct buf content = BUF_INIT(CREDENTIALS_MAX_SECRET_BYTES);
	int r = file_read(AT_FDCWD, path, &content);

	if (r < 0) {
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "cannot read the secret in %.512s: %s",
			       path, strerrordesc_np(-r));
		return r;
	}
	struct str secret = str_trim((struct str){ buf_str(&content), content.len });
	return buf_append(out, secret.p, secret.n);
}

static int load(const char *text, const char *path, struct buf *out, char *error)
{
	if (text)
		return buf_append_str(out, text);
	return path ? http_secret_file_read(path, out, error) : 0;
}

static int load_basic(const struct http_credentials *c, struct http_secrets *secrets,
		      struct http_request_options *options, char *error)
{
	if (!c->basic_username && !c->basic_password && !c->basic_password_file)
		return 0;
	int r = load(c->basic_password, c->basic_password_file, &secrets->password, error);
	options->basic_user = c->basic_username ? c->basic_username : "";
	options->basic_password = buf_str(&secrets->password);
	return r;
}

static int load_authorization(const struct http_credentials *c, struct http_secrets *secrets,
			      struct http_request_options *options, char *error)
{
	const char *text = c->bearer_token ? c->bearer_token : c->authorization_credentials;
	const char *path =
		c->bearer_token_file ? c->bearer_token_file : c->authorization_credentials_file;

	if (!text && !path)
		return 0;
	(void)buf_printf(&secrets->authorization, "%s ",
			 c->authorization_type ? c->authorization_type : "Bearer");
	int r = load(text, path, &secrets->authorization, error);
	options->authorization = buf_str(&secrets->authorization);
	return r < 0 ? r : secrets->authorization.failed ? -ENOBUFS : 0;
}

int http_secrets_read(const struct http_credentials *c, struct http_secrets *secrets,
		      struct http_request_options *options, char *error)
{
	int r = load_basic(c, secrets, options, error);

	return r == 0 ? load_authorization(c, secrets, options, error) : r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a kubeconfig: what is taken has a server that can be asked, what is refused has one line that says why. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/discovery/kube_config.h"
#include "agent/http/url.h"

#define TEXTS_MAX_BYTES ((size_t)1 << 20)
#define WHY_MAX_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct kube_access *a)
{
	const struct http_credentials *c = &a->credentials;
	struct url url;

	assert(url_parse(str_from(a->server), &url) == URL_OK);
	assert(a->server[strlen(a->server) - 1] != '/');
	assert(!(c->bearer_token && c->bearer_token_file));
	assert(!(c->basic_username && (c->bearer_token || c->bearer_token_file)));
	assert(!(a->tls.ca_pem && a->tls.ca_file));
	assert((a->tls.cert_pem || a->tls.cert_file) == (a->tls.key_pem || a->tls.key_file));
	assert(!a->tls.ca_pem || strstr(a->tls.ca_pem, "-----BEGIN "));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX_BYTES);
	struct kube_access access = { 0 };

	arena_init(&access.texts, TEXTS_MAX_BYTES);
	int r = kube_config_read((const char *)data, size, "dir/config", &why, &access);
	if (r == 0)
		check(&access);
	else
		assert(why.len > 0 || why.failed);
	assert((r == 0) == (why.len == 0 && !why.failed));
	kube_access_fini(&access);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers as a browser's request has them, and hosts(5). One line each: method, effect, Host, Origin, Referer, Sec-Fetch-Site, -Mode, -Dest;
 * "-" is no header; what follows is hosts(5). Whatever they say, only our own names are let in, and nothing is changed for other sites.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http/host_names.h"
#include "agent/util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *next_line(char **at)
{
	const char *line = strsep(at, "\n");

	return !line || strcmp(line, "-") == 0 ? NULL : line;
}

static void check(const struct guard *g, const struct guard_request *r)
{
	enum guard_verdict verdict = guard_judge(g, r);
	bool reads = r->is_get && r->effect != HTTP_CHANGES;

	if (verdict != GUARD_PASSES)
		return;
	assert(!r->host || *r->host);
	assert(!r->host || !strstr(r->host, "evil"));
	assert(reads || !r->site || strcmp(r->site, "cross-site") != 0);
	assert(reads || r->site || !r->origin || strncmp(r->origin, "http://evil", 11) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct guard g = { 0 };
	char *at = text;

	if (!text)
		return 0;
	const char *method = next_line(&at), *effect = next_line(&at);
	struct guard_request r = {
		.effect = effect && *effect == 'c'   ? HTTP_CHANGES
			  : effect && *effect == 'p' ? HTTP_IS_PAGE
						     : HTTP_READS,
		.is_get = method && strcmp(method, "GET") == 0,
	};
	r.host = next_line(&at);
	r.origin = next_line(&at);
	r.referer = next_line(&at);
	r.site = next_line(&at);
	r.mode = next_line(&at);
	r.dest = next_line(&at);
	/* A hosts(5) may name anything ours. */
	if (!at || !strstr(at, "evil")) {
		(void)host_names_add(&g, "box", str_from(at));
		check(&g, &r);
	}
	guard_fini(&g);
	return 0;
}

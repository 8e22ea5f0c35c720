/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page over HTTP.
 *
 * A browser asks each time whether what it has is right, and the tag is of all files together: no file of one version is ever used
 * with those of another. Nothing in the page comes from elsewhere, is written into it, or is shown in a frame of others.
 */
#include "agent/cli/web/page_routes.h"

#include <inttypes.h>
#include <string.h>

#include "agent/page/page.h"
#include "agent/util/hash.h"

#define PAGE "/page/"
#define POLICY                                                              \
	"default-src 'none'; script-src 'self'; style-src 'self'; "         \
	"img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; " \
	"form-action 'none'; frame-ancestors 'none'"

void page_tag_make(char ret_tag[static PAGE_TAG_BYTES])
{
	uint64_t hash = 0;
	size_t n;
	const struct page_file *files = page_files(&n);

	for (size_t i = 0; i < n; i++)
		hash = hash_bytes(files[i].bytes, files[i].n, hash ^ hash_str(files[i].name));
	(void)snprintf(ret_tag, PAGE_TAG_BYTES, "W/\"%016" PRIx64 "\"", hash);
}

static void put_headers(struct http_answer *answer, const char *tag)
{
	http_answer_add_header(answer, "ETag", tag);
	http_answer_add_header(answer, "Cache-Control", "no-cache");
	http_answer_add_header(answer, "X-Content-Type-Options", "nosniff");
	http_answer_add_header(answer, "Referrer-Policy", "no-referrer");
	http_answer_add_header(answer, "Content-Security-Policy", POLICY);
}

static bool is_known(const struct http_call *call, const char *tag)
{
	const char *tags = http_call_header(call, "If-None-Match");

	return tags && strstr(tags, tag);
}

static void answer_file(const struct http_call *call, const struct page_file *file, const char *tag,
			struct http_answer *answer)
{
	put_headers(answer, tag);
	answer->content_type = file->content_type;
	if (is_known(call, tag))
		answer->status = 304;
	else
		(void)buf_append(&answer->body, file->bytes, file->n);
}

static void on_file(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct page_file *file = page_find(http_call_path(call) + strlen(PAGE));

	if (file) {
		answer_file(call, file, data, answer);
		return;
	}
	answer->status = 404;
	(void)buf_append_str(&answer->body, "404 page not found\n");
}

int page_routes_add(struct http_server *server, const char *tag)
{
	return http_server_add_route(server, &(struct http_route){ .method = "GET",
								   .path = PAGE,
								   .prefix = true,
								   .fn = on_file,
								   .data = (void *)tag });
}

bool page_is_wanted(const struct http_call *call)
{
	const char *accept = http_call_header(call, "Accept");

	return accept && strstr(accept, "text/html");
}

void page_answer(const struct http_call *call, const char *tag, struct http_answer *answer)
{
	http_answer_add_header(answer, "Vary", "Accept");
	answer_file(call, page_find("index.html"), tag, answer);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From an answer to the bytes of a profile. */
#include "agent/scrape/scrape_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/store/ingest/ingest_inflate.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* A profile is gzip'd; so may be the answer that it is in. */
#define MAX_LAYERS 2
#define GZIP_LEVEL 1
#define SHOWN_BYTES 120
/* A delta is never longer than the profile, but for one number. */
#define MORE_BYTES 64

const char *scrape_result_text(enum scrape_result result)
{
	static const char *const texts[] = {
#define SCRAPE_RESULT_TEXT(name, text) text,
		SCRAPE_RESULTS(SCRAPE_RESULT_TEXT)
#undef SCRAPE_RESULT_TEXT
	};

	return texts[result];
}

/* ---- what is not even looked into ------------------------------------------------------------------------------------------------ */

/* The beginning of foreign bytes, for a person. */
static void put_beginning(struct buf *why, const char *bytes, size_t n)
{
	char text[SHOWN_BYTES + 1];
	struct str all = str_trim((struct str){ bytes, MIN_OF(n, SHOWN_BYTES) });

	str_copy_utf8(text, sizeof(text), all);
	if (*text)
		(void)buf_printf(why, ": %s", text);
}

static enum scrape_result result_of_outcome(enum http_outcome outcome)
{
	switch (outcome) {
	case HTTP_TIMEOUT:
		return SCRAPE_TIMEOUT;
	case HTTP_RESOLVE_FAILED:
	case HTTP_CONNECT_FAILED:
		return SCRAPE_UNREACHABLE;
	case HTTP_TLS_FAILED:
		return SCRAPE_TLS;
	default:
		return SCRAPE_BROKEN;
	}
}

static bool is_text(const char *content_type)
{
	return strncasecmp(content_type, "text/", 5) == 0 ||
	       strncasecmp(content_type, "application/json", 16) == 0;
}

static enum scrape_result refuse_status(const struct http_result *result, struct buf *why)
{
	(void)buf_printf(why, "server returned HTTP status %u", result->status);
	if (result->status == 404)
		(void)buf_append_str(why, " (does it import net/http/pprof? see path and "
					  "path_prefix of profiling_config)");
	put_beginning(why, result->body, result->n_body);
	return SCRAPE_STATUS;
}

enum scrape_result scrape_check_answer(const struct http_result *result, struct buf *why)
{
	static const char type[] = "application/octet-stream";
	bool answered = result->outcome == HTTP_DONE || result->outcome == HTTP_TOO_LARGE;

	if (answered && result->status / 100 != 2)
		return refuse_status(result, why);
	if (result->outcome != HTTP_DONE) {
		(void)buf_append_str(why, result->error);
		return result_of_outcome(result->outcome);
	}
	if (strncasecmp(result->content_type, type, sizeof(type) - 1) == 0)
		return SCRAPE_OK;
	(void)buf_printf(why, "Content-Type is \"%.100s\", that of a pprof is %s%s",
			 result->content_type, type,
			 is_text(result->content_type) ? ": look at it with a browser" : "");
	return SCRAPE_NO_PROFILE;
}

/* ---- layers of gzip ---------------------------------------------------------------------------------------------------------------- */

struct plain {
	const uint8_t *bytes;
	size_t n;
	uint8_t *memory; /* NULL: these are the caller's */
};

static void plain_fini(struct plain *p)
{
	free(p->memory);
}

static enum scrape_result no_memory(struct buf *why)
{
	(void)buf_append_str(why, "out of memory");
	return SCRAPE_MEMORY;
}

static enum scrape_result refuse_size(struct buf *why)
{
	(void)buf_printf(why, "the profile unpacks to more than %zu MiB",
			 SCRAPE_MAX_PLAIN_BYTES >> 20);
	return SCRAPE_TOO_LARGE;
}

static enum scrape_result unpack_layer(struct plain *p, struct buf *why)
{
	uint8_t *out = NULL;
	size_t n;

	switch (inflate_gzip(p->bytes, p->n, SCRAPE_MAX_PLAIN_BYTES, &out, &n)) {
	case INFLATE_DONE:
		free(p->memory);
		*p = (struct plain){ out, n, out };
		return SCRAPE_OK;
	case INFLATE_TOO_LARGE:
		return refuse_size(why);
	case INFLATE_DAMAGED:
		(void)buf_append_str(why, "the gzip'd profile is cut or damaged");
		return SCRAPE_NO_PROFILE;
	default:
		return no_memory(why);
	}
}

static enum scrape_result unpack(struct plain *p, struct buf *why)
{
	enum scrape_result result = SCRAPE_OK;

	for (int i = 0; i < MAX_LAYERS && result == SCRAPE_OK && inflate_is_gzip(p->bytes, p->n);
	     i++)
		result = unpack_layer(p, why);
	return result;
}

/* ---- the profile -------------------------------------------------------------------------------------------------------------------- */

static enum scrape_result refuse_bytes(const struct plain *p, struct buf *why)
{
	(void)buf_append_str(why, p->n == 0 ? "the answer is empty"
					    : "the answer is not a profile in the format of pprof");
	put_beginning(why, (const char *)p->bytes, p->n);
	return SCRAPE_NO_PROFILE;
}

static enum scrape_result pack(const void *plain, size_t n, struct buf *why,
			       struct scrape_reading *reading)
{
	(void)delta_look(plain, n, &reading->n_samples);
	return pprof_gzip(plain, n, GZIP_LEVEL, &reading->pprof) < 0 ? no_memory(why) : SCRAPE_OK;
}

static enum scrape_result take_delta(struct delta *d, const struct plain *p, struct buf *why,
				     struct scrape_reading *reading)
{
	_cleanup_buf_ struct buf out = BUF_INIT(p->n + MORE_BYTES);
	int r = delta_apply(d, p->bytes, p->n, &out);

	if (r < 0)
		return no_memory(why);
	if (r == DELTA_MALFORMED)
		return refuse_bytes(p, why);
	reading->restarted = r == DELTA_RESTARTED;
	return pack(buf_str(&out), out.len, why, reading);
}

enum scrape_result scrape_read(struct delta *delta, const uint8_t *body, size_t n, struct buf *why,
			       struct scrape_reading *ret_reading)
{
	_cleanup_(plain_fini) struct plain p = { body, n, NULL };
	enum scrape_result result = unpack(&p, why);
	size_t n_samples;

	*ret_reading = (struct scrape_reading){ .n_samples = 0 };
	if (result != SCRAPE_OK)
		return result;
	if (!delta_look(p.bytes, p.n, &n_samples))
		return refuse_bytes(&p, why);
	return delta ? take_delta(delta, &p, why, ret_reading)
		     : pack(p.bytes, p.n, why, ret_reading);
}

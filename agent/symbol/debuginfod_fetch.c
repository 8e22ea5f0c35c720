/* SPDX-License-Identifier: Apache-2.0 */
/* One request to a debuginfod server. */
#include "agent/symbol/debuginfod_fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#include "agent/symbol/debuginfod.h"
#include "agent/util/file.h"

/* A server that is there answers its first byte of TCP soon, or the next is asked. */
#define CONNECT_TIMEOUT_MS 5000L
/* Mirrors send on once or twice. */
#define MAX_REDIRECTIONS 4L
#define MAX_URL_BYTES 2048

struct transfer {
	const struct debuginfod_fetch *fetch;
	CURL *curl;
	uint64_t n_bytes;
	int error;	 /* of writing */
	bool is_private; /* what was sent was encrypted */
};

DEFINE_CLEANUP(CURL *, curl_easy_cleanup);

bool debuginfod_url_is_valid(const char *url)
{
	size_t scheme = strncmp(url, "https://", 8) == 0  ? 8
			: strncmp(url, "http://", 7) == 0 ? 7
							  : 0;

	return scheme > 0 && url[scheme] != '\0' && url[scheme] != '/' &&
	       url[strcspn(url, " \t\r\n\"<>")] == '\0' && strlen(url) < MAX_URL_BYTES / 2;
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *data)
{
	struct transfer *t = data;

	n *= size;
	if (n > t->fetch->max_bytes - t->n_bytes)
		return 0;
	t->error = file_write_fd(t->fetch->fd, bytes, n);
	if (t->error < 0)
		return 0;
	t->n_bytes += n;
	return n;
}

/* libcurl calls this about once a second, and with each piece. */
static int on_progress(void *data, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
		       curl_off_t up)
{
	const struct transfer *t = data;

	(void)down_total, (void)down, (void)up_total, (void)up;
	return atomic_load(t->fetch->stop);
}

/* Before each sending, a redirect's included: none leads from https to http. */
static int on_send(void *data, char *conn_ip, char *local_ip, int conn_port, int local_port)
{
	struct transfer *t = data;
	char *url = NULL;

	(void)conn_ip, (void)local_ip, (void)conn_port, (void)local_port;
	if (curl_easy_getinfo(t->curl, CURLINFO_EFFECTIVE_URL, &url) != CURLE_OK || !url)
		return CURL_PREREQFUNC_ABORT;
	bool is_private = strncasecmp(url, "https:", 6) == 0;
	if (t->is_private && !is_private)
		return CURL_PREREQFUNC_ABORT;
	t->is_private = is_private;
	return CURL_PREREQFUNC_OK;
}

static void restrict_protocols(CURL *curl)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	(void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
	(void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	(void)curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS,
			       (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void prepare(CURL *curl, const char *url, struct transfer *t)
{
	restrict_protocols(curl);
	(void)curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, on_send);
	(void)curl_easy_setopt(curl, CURLOPT_PREREQDATA, t);
	(void)curl_easy_setopt(curl, CURLOPT_URL, url);
	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_MAXREDIRS, MAX_REDIRECTIONS);
	(void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "xagent");
	(void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	(void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(t->fetch->timeout_ns / NS_PER_MS));
	(void)curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->fetch->max_bytes);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	(void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
	(void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	(void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	(void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t);
}

int debuginfod_fetch(const struct debuginfod_fetch *f, uint64_t *ret_n_bytes)
{
	_cleanup_(curl_easy_cleanupp) CURL *curl = curl_easy_init();
	_cleanup_buf_ struct buf url = BUF_INIT(MAX_URL_BYTES);
	struct transfer t = { .fetch = f, .curl = curl };
	size_t n = strlen(f->url);
	long status = 0;

	*ret_n_bytes = 0;
	if (!curl)
		return -ENOMEM;
	while (n > 0 && f->url[n - 1] == '/')
		n--;
	if (buf_printf(&url, "%.*s/buildid/%s/debuginfo", (int)n, f->url, f->build_id) < 0)
		return DEBUGINFOD_FETCH_FAILED;
	prepare(curl, buf_str(&url), &t);
	CURLcode code = curl_easy_perform(curl);
	*ret_n_bytes = t.n_bytes;
	(void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (t.error < 0)
		return t.error;
	if (code == CURLE_HTTP_RETURNED_ERROR)
		return status == 404 || status == 410 ? DEBUGINFOD_FETCH_ABSENT
						      : DEBUGINFOD_FETCH_FAILED;
	return code == CURLE_OK && status == 200 ? 0 : DEBUGINFOD_FETCH_FAILED;
}

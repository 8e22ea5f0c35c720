/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From our options to libcurl's.
 *
 * Every setter goes through request_set(), which remembers the first failure: an option that this
 * libcurl does not know (no TLS, no HTTP/2) is a request that fails, not one that is sent without
 * what the user asked for.
 */
#include "agent/http/request.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/http/url.h"
#include "agent/util/clock.h"

#define request_set(request, result, option, value)                                    \
	do {                                                                           \
		CURLcode code_ = curl_easy_setopt((request)->easy, (option), (value)); \
		if (code_ != CURLE_OK && *(result) == 0)                               \
			*(result) = code_ == CURLE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL;  \
	} while (0)

static bool header_text_ok(const char *s)
{
	return !strpbrk(s, "\r\n");
}

/* RFC 9110 §5.6.2: token */
static bool header_name_ok(const char *name)
{
	if (!*name)
		return false;
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", *c))
			return false;
	return true;
}

bool http_header_ok(const struct http_header *header)
{
	return header_name_ok(header->name) && header_text_ok(header->value);
}

bool http_unix_socket_ok(const char *path)
{
	return *path == '/' && strlen(path) < sizeof(((struct sockaddr_un *)NULL)->sun_path);
}

static int list_add(struct curl_slist **list, const char *text)
{
	struct curl_slist *longer = curl_slist_append(*list, text);

	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

/* libcurl takes "Name:" for "leave it out" and "Name;" for an empty value. */
static int add_header(struct curl_slist **list, const char *name, const char *value)
{
	_cleanup_free_ char *line = NULL;

	if (!header_name_ok(name) || !header_text_ok(value))
		return -EINVAL;
	if (asprintf(&line, *value ? "%s: %s" : "%s;", name, value) < 0) {
		line = NULL;
		return -ENOMEM;
	}
	return list_add(list, line);
}

static int add_headers(struct curl_slist **list, const struct http_header *headers, size_t n)
{
	if (n > HTTP_MAX_HEADERS)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		int r = add_header(list, headers[i].name, headers[i].value);

		if (r < 0)
			return r;
	}
	return 0;
}

int request_add_header(struct http_request *rq, const char *name, const char *value)
{
	int r = add_header(&rq->headers, name, value);

	if (r == 0)
		request_set(rq, &r, CURLOPT_HTTPHEADER, rq->headers);
	return r;
}

static int set_headers(struct http_request *rq, const struct http_request_options *o)
{
	/* Without this, libcurl waits up to a second for "100 Continue" before each large body. */
	int r = list_add(&rq->headers, "Expect:");

	if (r == 0)
		r = add_headers(&rq->headers, o->headers, o->n_headers);
	if (r == 0 && o->authorization)
		r = add_header(&rq->headers, "Authorization", o->authorization);
	return r;
}

/* Descriptors of the agent never reach a program it starts. */
static curl_socket_t on_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)data;
	(void)purpose;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static bool has_body(const struct http_request_options *o)
{
	return o->body || o->n_pieces > 0;
}

static void set_pieces(struct http_request *rq, const struct http_request_options *o, int *r)
{
	rq->pieces = o->pieces;
	rq->n_pieces = o->n_pieces;
	request_set(rq, r, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)request_pieces_bytes(o->pieces, o->n_pieces));
	request_set(rq, r, CURLOPT_READFUNCTION, request_on_read);
	request_set(rq, r, CURLOPT_READDATA, rq);
	request_set(rq, r, CURLOPT_SEEKFUNCTION, request_on_seek);
	request_set(rq, r, CURLOPT_SEEKDATA, rq);
}

static void set_method(struct http_request *rq, const struct http_request_options *o, int *r)
{
	if (has_body(o))
		request_set(rq, r, CURLOPT_POST, 1L);
	if (o->body) {
		request_set(rq, r, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)o->n_body);
		request_set(rq, r, CURLOPT_POSTFIELDS, (const char *)o->body);
	} else if (has_body(o)) {
		set_pieces(rq, o, r);
	}
	if (!o->method)
		return;
	if (!header_name_ok(o->method))
		*r = -EINVAL;
	else if (strcmp(o->method, "HEAD") == 0)
		request_set(rq, r, CURLOPT_NOBODY, 1L);
	else if (strcmp(o->method, has_body(o) ? "POST" : "GET") != 0)
		request_set(rq, r, CURLOPT_CUSTOMREQUEST, o->method);
}

/* libcurl 7.88 sets up HTTP/2 once more on a connection that has it (https://github.com/curl/curl/pull/10643). */
#define VERSION_REUSES_HTTP2 0x080000

/* Without TLS there is nothing to agree in: both have to know. */
static bool knows_http2(const struct http_request_options *o)
{
	return o->only_http2 && strncasecmp(o->url, "http:", strlen("http:")) == 0;
}

static void set_version(struct http_request *rq, const struct http_request_options *o, int *r)
{
	bool fresh = knows_http2(o) &&
		     curl_version_info(CURLVERSION_NOW)->version_num < VERSION_REUSES_HTTP2;
	long version =
		o->only_http2 || o->enable_http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;

	request_set(rq, r, CURLOPT_HTTP_VERSION,
		    knows_http2(o) ? (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : version);
	request_set(rq, r, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
	request_set(rq, r, CURLOPT_FORBID_REUSE, fresh ? 1L : 0L);
}

static void set_transfer(struct http_request *rq, const struct http_request_options *o, int *r)
{
	/* Rounded up: a timeout of a microsecond must not become none. */
	uint64_t ms = (o->timeout_ns + NS_PER_MS - 1) / NS_PER_MS;

	request_set(rq, r, CURLOPT_PROTOCOLS_STR, "http,https");
	request_set(rq, r, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	request_set(rq, r, CURLOPT_NOSIGNAL, 1L);
	/* Or a timeout and a cancellation would wait for the thread that resolves the name. */
	request_set(rq, r, CURLOPT_QUICK_EXIT, 1L);
	request_set(rq, r, CURLOPT_TIMEOUT_MS, (long)(ms > INT32_MAX ? INT32_MAX : ms));
	request_set(rq, r, CURLOPT_ERRORBUFFER, rq->curl_error);
	request_set(rq, r, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	request_set(rq, r, CURLOPT_WRITEFUNCTION, request_on_body);
	request_set(rq, r, CURLOPT_HEADERFUNCTION, request_on_header);
	request_set(rq, r, CURLOPT_HEADERDATA, rq);
	request_set(rq, r, CURLOPT_WRITEDATA, rq);
	request_set(rq, r, CURLOPT_PRIVATE, rq);
	request_set(rq, r, CURLOPT_FOLLOWLOCATION, o->follow_redirects ? 1L : 0L);
	request_set(rq, r, CURLOPT_MAXREDIRS, (long)HTTP_MAX_REDIRECTS);
	request_set(rq, r, CURLOPT_UNRESTRICTED_AUTH, 0L);
	request_set(rq, r, CURLOPT_PREREQFUNCTION, request_on_send);
	request_set(rq, r, CURLOPT_PREREQDATA, rq);
	request_set(rq, r, CURLOPT_POSTREDIR, (long)(CURL_REDIR_POST_301 | CURL_REDIR_POST_302));
	set_version(rq, o, r);
	/* One that says nothing for hours must be found to have gone away. */
	request_set(rq, r, CURLOPT_TCP_KEEPALIVE, o->on_data ? 1L : 0L);
	if (o->user_agent)
		request_set(rq, r, CURLOPT_USERAGENT, o->user_agent);
	if (o->basic_user || o->basic_password) {
		request_set(rq, r, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		request_set(rq, r, CURLOPT_USERNAME, o->basic_user ? o->basic_user : "");
		request_set(rq, r, CURLOPT_PASSWORD, o->basic_password ? o->basic_password : "");
	}
}

static void set_pem(struct http_request *rq, int *r, const char *pem, CURLoption pem_option,
		    const char *file, CURLoption file_option)
{
	if (pem) {
		struct curl_blob blob = { .data = (void *)pem,
					  .len = strlen(pem),
					  .flags = CURL_BLOB_COPY };

		request_set(rq, r, pem_option, &blob);
	} else if (file) {
		request_set(rq, r, file_option, file);
	}
}

static long tls_version(enum http_tls_version version)
{
	switch (version) {
	case HTTP_TLS10:
		return CURL_SSLVERSION_TLSv1_0;
	case HTTP_TLS11:
		return CURL_SSLVERSION_TLSv1_1;
	case HTTP_TLS12:
	case HTTP_TLS_DEFAULT:
		return CURL_SSLVERSION_TLSv1_2;
	case HTTP_TLS13:
		return CURL_SSLVERSION_TLSv1_3;
	}
	return CURL_SSLVERSION_TLSv1_2;
}

static void set_tls(struct http_request *rq, const struct http_tls_options *o, int *r)
{
	request_set(rq, r, CURLOPT_SSLVERSION, tls_version(o->min_version));
	request_set(rq, r, CURLOPT_SSL_VERIFYPEER, o->insecure_skip_verify ? 0L : 1L);
	request_set(rq, r, CURLOPT_SSL_VERIFYHOST, o->insecure_skip_verify ? 0L : 2L);
	set_pem(rq, r, o->ca_pem, CURLOPT_CAINFO_BLOB, o->ca_file, CURLOPT_CAINFO);
	set_pem(rq, r, o->cert_pem, CURLOPT_SSLCERT_BLOB, o->cert_file, CURLOPT_SSLCERT);
	set_pem(rq, r, o->key_pem, CURLOPT_SSLKEY_BLOB, o->key_file, CURLOPT_SSLKEY);
}

static int set_proxy(struct http_request *rq, const struct http_proxy_options *o, int *r)
{
	/* NULL lets libcurl look into the environment; "" forbids it. */
	rq->proxied = o->url || o->from_environment;
	if (o->url || !o->from_environment)
		request_set(rq, r, CURLOPT_PROXY, o->url ? o->url : "");
	if (o->no_proxy)
		request_set(rq, r, CURLOPT_NOPROXY, o->no_proxy);
	int h = add_headers(&rq->proxy_headers, o->connect_headers, o->n_connect_headers);
	if (h < 0)
		return h;
	request_set(rq, r, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	request_set(rq, r, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	request_set(rq, r, CURLOPT_PROXYHEADER, rq->proxy_headers);
	return 0;
}

static int set_unix_socket(struct http_request *rq, const char *path, int *r)
{
	if (!http_unix_socket_ok(path))
		return -EINVAL;
	request_set(rq, r, CURLOPT_UNIX_SOCKET_PATH, path);
	(void)snprintf(rq->peer, sizeof(rq->peer), "unix socket %s", path);
	return set_proxy(rq, &(struct http_proxy_options){ 0 }, r);
}

static bool has_header(const struct http_request_options *o, const char *name)
{
	for (size_t i = 0; i < o->n_headers; i++)
		if (strcasecmp(o->headers[i].name, name) == 0)
			return true;
	return false;
}

static bool has_own_headers(const struct http_request_options *o)
{
	for (size_t i = 0; i < o->n_headers; i++)
		if (!redirect_keeps_header(o->headers[i].name))
			return true;
	return false;
}

/*
 * libcurl takes SNI and the name to verify from the URL. So the URL gets the wanted name, the
 * connection goes to the real host, and the Host header stays what it would have been.
 */
static int use_server_name(struct http_request *rq, const struct http_request_options *o,
			   const struct url *url, struct buf *text)
{
	_cleanup_buf_ struct buf to = BUF_INIT(2 * URL_MAX_BYTES);

	if (strpbrk(o->tls.server_name, "/?#@[]: \r\n"))
		return -EINVAL;
	(void)buf_printf(&to, "%s:%u:%s", o->tls.server_name, url->port, rq->peer);
	(void)buf_printf(text, "https://%s:%u%.*s", o->tls.server_name, url->port, (int)url->path.n,
			 url->path.p);
	if (url->query.n > 0)
		(void)buf_printf(text, "?%.*s", (int)url->query.n, url->query.p);
	if (to.failed || text->failed)
		return -ENOMEM;
	int r = list_add(&rq->connect_to, buf_str(&to));
	if (r == 0 && !has_header(o, "Host"))
		r = add_header(&rq->headers, "Host", rq->peer);
	return r;
}

static int set_url(struct http_request *rq, const struct http_request_options *o, int *r)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * URL_MAX_BYTES);
	struct url url;

	if (url_parse(str_from(o->url), &url) != URL_OK)
		return -EINVAL;
	int n = snprintf(rq->peer, sizeof(rq->peer), url.host_is_ipv6 ? "[%.*s]:%u" : "%.*s:%u",
			 (int)url.host.n, url.host.p, url.port);
	assert(n > 0 && (size_t)n < sizeof(rq->peer));
	int u = url.https && o->tls.server_name ? use_server_name(rq, o, &url, &text)
						: buf_append_str(&text, o->url);
	if (u < 0)
		return u;
	request_set(rq, r, CURLOPT_URL, buf_str(&text));
	request_set(rq, r, CURLOPT_CONNECT_TO, rq->connect_to);
	return 0;
}

int request_configure(struct http_request *rq, const struct http_request_options *o)
{
	int set_result = 0;

	buf_init(&rq->body,
		 o->max_response_bytes ? o->max_response_bytes : HTTP_DEFAULT_MAX_RESPONSE_BYTES);
	rq->timeout_ns = o->timeout_ns;
	rq->idle_timeout_ns = o->idle_timeout_ns;
	rq->on_data = o->on_data;
	rq->on_open = o->on_open;
	rq->has_headers = has_own_headers(o);
	rq->oauth2 = o->oauth2;
	rq->easy = curl_easy_init();
	if (!rq->easy)
		return -ENOMEM;
	int r = set_headers(rq, o);
	if (r == 0)
		r = set_url(rq, o, &set_result);
	if (r == 0)
		r = o->unix_socket ? set_unix_socket(rq, o->unix_socket, &set_result)
				   : set_proxy(rq, &o->proxy, &set_result);
	if (r < 0)
		return r;
	set_method(rq, o, &set_result);
	set_transfer(rq, o, &set_result);
	set_tls(rq, &o->tls, &set_result);
	request_set(rq, &set_result, CURLOPT_HTTPHEADER, rq->headers);
	return set_result;
}

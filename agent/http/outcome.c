/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of a transfer means, and how to say it to a person. */
#include <string.h>

#include "agent/http/request.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* With TLS 1.3 a server judges our certificate when we take the connection for made (RFC 8446, 4.4.2.4): its alert comes in place of an answer. */
static bool certificate_refused(const struct http_request *rq, CURLcode code)
{
	static const char *const alerts[] = { "alert bad certificate", "alert certificate required",
					      "alert unknown ca", "certificate_required" };

	if (code != CURLE_RECV_ERROR && code != CURLE_SEND_ERROR && code != CURLE_SSL_CONNECT_ERROR)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(alerts); i++)
		if (strstr(rq->curl_error, alerts[i]))
			return true;
	return false;
}

enum http_outcome request_outcome(const struct http_request *rq, CURLcode code)
{
	if (rq->too_large)
		return HTTP_TOO_LARGE;
	if (rq->stopped)
		return HTTP_STOPPED;
	if (certificate_refused(rq, code))
		return HTTP_TLS_FAILED;
	switch ((int)code) {
	case CURLE_OK:
		return HTTP_DONE;
	case CURLE_OPERATION_TIMEDOUT:
		return HTTP_TIMEOUT;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return HTTP_RESOLVE_FAILED;
	case CURLE_COULDNT_CONNECT:
	case CURLE_PROXY:
		return HTTP_CONNECT_FAILED;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_USE_SSL_FAILED:
		return HTTP_TLS_FAILED;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 or not HTTP at all */
	case CURLE_BAD_CONTENT_ENCODING:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return HTTP_BROKEN;
	default:
		return HTTP_FAILED;
	}
}

/* libcurl's own text is best where it knows more than a number; for a refused connection the
 * system's is. */
static const char *request_reason(const struct http_request *rq, CURLcode code)
{
	long os_errno = 0;

	if (*rq->refused)
		return rq->refused;
	if (certificate_refused(rq, code))
		return "the server wants a client certificate that it trusts, and the key to it";
	if (code == CURLE_COULDNT_CONNECT && !rq->proxied &&
	    curl_easy_getinfo(rq->easy, CURLINFO_OS_ERRNO, &os_errno) == CURLE_OK && os_errno != 0)
		return strerrordesc_np((int)os_errno);
	return rq->curl_error[0] ? rq->curl_error : curl_easy_strerror(code);
}

static const char *const request_sentences[] = {
	[HTTP_DONE] = "",
	[HTTP_TIMEOUT] = "",
	[HTTP_RESOLVE_FAILED] = "cannot find the address of",
	[HTTP_CONNECT_FAILED] = "cannot connect to",
	[HTTP_TLS_FAILED] = "no secure connection to",
	[HTTP_TOO_LARGE] = "too large an answer from",
	[HTTP_BROKEN] = "broken connection to",
	[HTTP_STOPPED] = "no more wanted from",
	[HTTP_FAILED] = "request failed to",
};

static void describe_timeout(const struct http_request *rq, char *error)
{
	uint64_t ns = rq->idle_too_long ? rq->idle_timeout_ns : rq->timeout_ns;

	(void)snprintf(error, HTTP_MAX_ERROR_BYTES,
		       rq->idle_too_long ? "nothing came from %s for %.3g s"
					 : "no complete answer from %s within %.3g s",
		       rq->peer, (double)ns / NS_PER_S);
}

void request_describe(const struct http_request *rq, enum http_outcome outcome, CURLcode code,
		      char *error)
{
	const char *sentence = request_sentences[outcome];

	switch (outcome) {
	case HTTP_DONE:
		error[0] = '\0';
		return;
	case HTTP_TIMEOUT:
		describe_timeout(rq, error);
		return;
	case HTTP_TOO_LARGE:
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "%s %s: more than %zu bytes", sentence,
			       rq->peer, rq->body.max_bytes);
		return;
	case HTTP_STOPPED:
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "%s %s", sentence, rq->peer);
		return;
	case HTTP_RESOLVE_FAILED:
	case HTTP_CONNECT_FAILED:
	case HTTP_TLS_FAILED:
	case HTTP_BROKEN:
	case HTTP_FAILED:
	case HTTP_OUTCOME_MAX:
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "%s %s: %s", sentence, rq->peer,
			       request_reason(rq, code));
	}
}

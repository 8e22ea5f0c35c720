/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Connect protocol, unary, of a server: what headers say, and errors. Pure.
 *
 *	POST /package.Service/Method
 *	Content-Type: application/proto | application/json
 */
#ifndef XAGENT_AGENT_STORE_CONNECT_CONNECT_H
#define XAGENT_AGENT_STORE_CONNECT_CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/buf.h"

/* X(name as on the wire, status of HTTP) */
#define RPC_CODES(X)                \
	X(canceled, 499)            \
	X(unknown, 500)             \
	X(invalid_argument, 400)    \
	X(deadline_exceeded, 504)   \
	X(not_found, 404)           \
	X(already_exists, 409)      \
	X(permission_denied, 403)   \
	X(resource_exhausted, 429)  \
	X(failed_precondition, 400) \
	X(aborted, 409)             \
	X(out_of_range, 400)        \
	X(unimplemented, 501)       \
	X(internal, 500)            \
	X(unavailable, 503)         \
	X(data_loss, 500)           \
	X(unauthenticated, 401)
#define RPC_CODE_ENUM(name, status) RPC_##name,

enum rpc_code { RPC_ok, RPC_CODES(RPC_CODE_ENUM) RPC_CODE_MAX };

unsigned int rpc_code_status(enum rpc_code code); /* RPC_ok: 200 */
const char *rpc_code_name(enum rpc_code code);	  /* RPC_ok: "ok" */

/* {"code":"…","message":"…"} */
int connect_put_error(struct buf *out, enum rpc_code code, const char *message);

enum connect_codec { CONNECT_PROTO, CONNECT_JSON, CONNECT_JSON_UTF8 };

#define CONNECT_ACCEPT_POST "application/json, application/json; charset=utf-8, application/proto"

/* False: a type that nobody here speaks, or none. */
bool connect_parse_codec(const char *content_type, enum connect_codec *ret_codec);
/* For the answer to a request of that type. */
const char *connect_content_type(enum connect_codec codec);

/* Connect-Timeout-Ms: at most 10 digits; NULL is none. False with a sentence in `why`. *ret_ms is UINT64_MAX without one. */
bool connect_parse_timeout(const char *text, struct buf *why, uint64_t *ret_ms);

enum connect_encoding { CONNECT_IDENTITY, CONNECT_GZIP, CONNECT_ENCODING_UNKNOWN };
enum connect_encoding connect_parse_encoding(const char *content_encoding);

enum connect_inflate_outcome {
	CONNECT_INFLATED,
	CONNECT_INFLATE_BROKEN,
	CONNECT_INFLATE_TOO_LARGE
};
/* The ceiling is that of `out`. An outcome or -ENOMEM. */
int connect_inflate(const void *bytes, size_t n, struct buf *out);

#endif

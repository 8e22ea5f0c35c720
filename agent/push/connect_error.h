/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON error of the Connect protocol: {"code":"invalid_argument","message":"…"}. Pure. */
#ifndef XAGENT_AGENT_PUSH_CONNECT_ERROR_H
#define XAGENT_AGENT_PUSH_CONNECT_ERROR_H

#include <stdbool.h>

#include "agent/util/str.h"

/* A longer body is not looked at: the server's longest messages quote a label set, a few KiB. */
#define CONNECT_ERROR_MAX_BYTES (64 << 10)
#define CONNECT_ERROR_MAX_MESSAGE 512

/* X(name as on the wire), in the order of the Connect specification. */
#define CONNECT_CODES(X)                                                                 \
	X(canceled)                                                                      \
	X(unknown)                                                                       \
	X(invalid_argument)                                                              \
	X(deadline_exceeded)                                                             \
	X(not_found)                                                                     \
	X(already_exists)                                                                \
	X(permission_denied) X(resource_exhausted) X(failed_precondition) X(aborted)     \
		X(out_of_range) X(unimplemented) X(internal) X(unavailable) X(data_loss) \
			X(unauthenticated)

enum connect_code {
	CONNECT_NONE, /* no such body, or a code nobody knows */
#define CONNECT_CODE_ENUM(name) CONNECT_##name,
	CONNECT_CODES(CONNECT_CODE_ENUM)
#undef CONNECT_CODE_ENUM
		CONNECT_CODE_MAX
};

struct connect_error {
	enum connect_code code;
	char message[CONNECT_ERROR_MAX_MESSAGE]; /* valid UTF-8 without control characters; may be
						    "" */
};

/* False when the body is no Connect error; *ret_error is set on true only. */
bool connect_error_parse(struct str body, struct connect_error *ret_error);
const char *connect_code_name(enum connect_code code);

#endif

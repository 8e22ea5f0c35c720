/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of multipart/form-data (RFC 7578), of which a part is looked for by its name. Pure; takes time by the bytes alone. */
#ifndef XAGENT_AGENT_RECEIVE_MULTIPART_H
#define XAGENT_AGENT_RECEIVE_MULTIPART_H

#include <stdbool.h>

#include "agent/util/str.h"

/* RFC 2046 §5.1.1 */
#define MULTIPART_MAX_BOUNDARY 70
/* Of the headers of a part. */
#define MULTIPART_MAX_HEADER 8192

struct multipart {
	char delimiter[MULTIPART_MAX_BOUNDARY + 5]; /* CR LF "--" boundary */
	size_t n_delimiter;
	struct str rest;
	bool begun, broken;
};

struct multipart_part {
	struct str name; /* as it is written */
	struct str body;
};

/* False: the type of the content has no boundary, or one that is not allowed. `body` is borrowed. */
bool multipart_init(struct multipart *m, const char *content_type, struct str body);
/* False: there is none any more; m->broken: it is cut, or no such body. */
bool multipart_next(struct multipart *m, struct multipart_part *ret_part);

#endif

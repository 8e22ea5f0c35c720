/* SPDX-License-Identifier: Apache-2.0 */
/* The page over HTTP: `/` for clients that accept HTML, and the files that it is made of. */
#ifndef XAGENT_AGENT_CLI_WEB_PAGE_ROUTES_H
#define XAGENT_AGENT_CLI_WEB_PAGE_ROUTES_H

#include "agent/http/server.h"

/* W/"16 digits" */
#define PAGE_TAG_BYTES 24

/* `ret_tag` gets what names this version of all files together. Pure. */
void page_tag_make(char ret_tag[static PAGE_TAG_BYTES]);

/* The routes of the files; `tag` lives as long as they do. 0 or -errno. */
int page_routes_add(struct http_server *server, const char *tag);

/* Whether who asks would rather have HTML than a plain text. */
bool page_is_wanted(const struct http_call *call);
/* index.html. */
void page_answer(const struct http_call *call, const char *tag, struct http_answer *answer);

#endif

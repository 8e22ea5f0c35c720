/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a watch; for its own files. */
#ifndef XAGENT_AGENT_DISCOVERY_KUBE_WATCH_PRIVATE_H
#define XAGENT_AGENT_DISCOVERY_KUBE_WATCH_PRIVATE_H

#include "agent/discovery/json_items.h"
#include "agent/discovery/json_stream.h"
#include "agent/discovery/kube_watch.h"

/* Opaque texts of the server; a page's token holds a key of an object and a version. */
#define KUBE_MAX_VERSION_BYTES 128
#define KUBE_MAX_TOKEN_BYTES 1024
/* A list of more pages does not end: of 500 objects each, it is three times what Kubernetes is made for (150,000 pods). */
#define KUBE_MAX_PAGES 1000

enum kube_next { KUBE_NEXT_LIST, KUBE_NEXT_WATCH };

struct kube_watch {
	struct kube_watch_options o;
	struct loop_timer *timer; /* the end of a wait; in a watch: it has lived for a while */
	struct http_request *request;
	struct json_items items;
	struct json_stream stream;
	struct buf version;
	struct buf token; /* of the next page */
	struct buf
		list_from; /* the version a list is asked for: "0" the first time, so that the server need not ask its store */
	unsigned int n_pages;
	int read_error; /* of what came; 0: none */
	bool relist;	/* the watch said that only a list helps */
	bool opened;	/* the server has taken this watch */
	bool heard;	/* an event came in it */
	uint64_t began_ns;
	enum kube_next next; /* after the wait */
	unsigned int n_failures;
	struct buf error;
	struct kube_watch_status status;
	uint64_t random;
};

void kube_list_begin(struct kube_watch *w);
void kube_stream_begin(struct kube_watch *w);

/* All is well. */
void kube_watch_recover(struct kube_watch *w);
/* And it has been for a while: the next failure is the first. */
void kube_watch_settle(struct kube_watch *w);
void kube_watch_hear(struct kube_watch *w);
/* One line about what went wrong goes into w->error first. */
void kube_watch_fail(struct kube_watch *w, enum kube_next next, uint64_t server_wait_ns);
/* What a Retry-After header asks for; 0: nothing. */
uint64_t kube_watch_server_wait_ns(const struct http_result *result);
/* The version is too old: the first time in a row another list is asked for at once. */
void kube_watch_expire(struct kube_watch *w);
/* True: an answer with a 2xx status that came to its end. */
bool kube_watch_answered(const struct http_result *result);
/* How what came could not be read. */
void kube_watch_describe_read_error(struct kube_watch *w, const char *what);

#endif

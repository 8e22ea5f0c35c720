/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Kubernetes API server may answer: the first byte says whether it is a list or a watch. Pods go into a store, which ends within its
 * limits, in one piece as well as byte by byte.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/discovery/json_items.h"
#include "agent/discovery/json_stream.h"
#include "agent/discovery/kube_event.h"
#include "agent/discovery/kube_pods.h"
#include "agent/util/macro.h"

#define MAX_BYTES 4096
#define MAX_PODS 8
#define MAX_TARGETS 40
#define MAX_LABEL_BYTES 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_item(json_t *item, void *data)
{
	assert(json_is_object(item));
	return kube_pods_put(data, item);
}

static int on_event(json_t *json, void *data)
{
	struct kube_event event = kube_event_read(json);

	assert(event.version && event.status.code <= INT32_MAX);
	if (event.kind == KUBE_EVENT_CHANGED)
		return kube_pods_put(data, event.object);
	if (event.kind == KUBE_EVENT_DELETED)
		kube_pods_remove(data, event.object);
	return 0;
}

static int read_list(const char *bytes, size_t n, size_t n_piece, struct kube_pods *pods)
{
	struct json_items items;
	json_t *rest = NULL;
	int r = 0;

	json_items_init(&items, MAX_BYTES);
	for (size_t i = 0; r == 0 && i < n; i += n_piece)
		r = json_items_feed(&items, bytes + i, MIN_OF(n_piece, n - i), on_item, pods);
	assert(items.item.len <= MAX_BYTES);
	if (r == 0)
		r = json_items_end(&items, &rest);
	if (r == 0)
		assert(kube_page_read(rest).next);
	json_decref(rest);
	json_items_fini(&items);
	return r;
}

static int read_watch(const char *bytes, size_t n, size_t n_piece, struct kube_pods *pods)
{
	struct json_stream stream;
	int r = 0;

	json_stream_init(&stream, MAX_BYTES);
	for (size_t i = 0; r == 0 && i < n; i += n_piece)
		r = json_stream_feed(&stream, bytes + i, MIN_OF(n_piece, n - i), on_event, pods);
	json_stream_fini(&stream);
	return r;
}

static int read_answer(const uint8_t *data, size_t size, size_t n_piece, struct kube_pods *pods)
{
	const char *bytes = (const char *)data + 1;
	int r = data[0] & 1 ? read_list(bytes, size - 1, n_piece, pods)
			    : read_watch(bytes, size - 1, n_piece, pods);

	assert(pods->by_uid.n <= MAX_PODS && pods->n_targets <= MAX_TARGETS);
	assert(pods->n_bytes <= MAX_LABEL_BYTES);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kube_pods_options options = { .max_pods = MAX_PODS,
						   .max_targets = MAX_TARGETS,
						   .max_bytes = MAX_LABEL_BYTES };
	struct kube_pods whole, pieces;

	if (size < 2)
		return 0;
	kube_pods_init(&whole, &options);
	kube_pods_init(&pieces, &options);
	int r = read_answer(data, size, size, &whole);
	assert(r == read_answer(data, size, 1, &pieces));
	assert(whole.by_uid.n == pieces.by_uid.n && whole.n_targets == pieces.n_targets);
	assert(whole.n_refused == pieces.n_refused);
	kube_pods_fini(&whole);
	kube_pods_fini(&pieces);
	return 0;
}

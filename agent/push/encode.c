/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a Push request.
 *
 * protobuf-c packs a message by handing over its bytes in their order, a field's contents where they lie: so those of the profile are found
 * there by their address, and borrowed.
 */
#include "agent/push/encode.h"

#include <assert.h>

#include "agent/push/push.pb-c.h"

struct sink {
	ProtobufCBuffer base;
	struct push_body *body;
	const struct shared_bytes *shared;
};

static void append(ProtobufCBuffer *base, size_t n, const uint8_t *bytes)
{
	struct sink *sink = (struct sink *)base;

	if (bytes == sink->shared->data)
		push_body_add_shared(sink->body, sink->shared);
	else
		push_body_add(sink->body, bytes, n);
}

int push_encode(const struct push_profile *const *profiles, size_t n, struct push_body *body)
{
	const struct push_profile *profile = profiles[0];
	Push__V1__LabelPair pairs[PUSH_MAX_LABELS];
	Push__V1__LabelPair *pair_list[PUSH_MAX_LABELS];
	Push__V1__RawSample sample = PUSH__V1__RAW_SAMPLE__INIT;
	Push__V1__RawSample *samples = &sample;
	Push__V1__RawProfileSeries series = PUSH__V1__RAW_PROFILE_SERIES__INIT;
	Push__V1__RawProfileSeries *series_list = &series;
	Push__V1__PushRequest request = PUSH__V1__PUSH_REQUEST__INIT;
	struct sink sink = { .base.append = append, .body = body, .shared = profile->bytes };

	assert(n == 1);
	(void)n;
	for (size_t i = 0; i < profile->n_labels; i++) {
		push__v1__label_pair__init(&pairs[i]);
		pairs[i].name = (char *)profile->labels[i].name;
		pairs[i].value = (char *)profile->labels[i].value;
		pair_list[i] = &pairs[i];
	}
	sample.raw_profile = (ProtobufCBinaryData){ .len = profile->bytes->n,
						    .data = (uint8_t *)profile->bytes->data };
	series.n_labels = profile->n_labels;
	series.labels = pair_list;
	series.n_samples = 1;
	series.samples = &samples;
	request.n_series = 1;
	request.series = &series_list;
	(void)push__v1__push_request__pack_to_buffer(&request, &sink.base);
	return 0;
}

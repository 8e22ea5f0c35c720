/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a Push request. */
#include "agent/push/encode.h"

#include <errno.h>

#include "agent/push/push.pb-c.h"

int push_encode(const struct push_labels *labels, const void *pprof, size_t n_pprof,
		uint8_t **ret_body, size_t *ret_n)
{
	Push__V1__LabelPair pairs[PUSH_MAX_LABELS];
	Push__V1__LabelPair *pair_list[PUSH_MAX_LABELS];
	Push__V1__RawSample sample = PUSH__V1__RAW_SAMPLE__INIT;
	Push__V1__RawSample *samples = &sample;
	Push__V1__RawProfileSeries series = PUSH__V1__RAW_PROFILE_SERIES__INIT;
	Push__V1__RawProfileSeries *series_list = &series;
	Push__V1__PushRequest request = PUSH__V1__PUSH_REQUEST__INIT;

	if (n_pprof > PUSH_MAX_PPROF_BYTES)
		return -EMSGSIZE;
	for (size_t i = 0; i < labels->n; i++) {
		push__v1__label_pair__init(&pairs[i]);
		pairs[i].name = (char *)labels->items[i].name;
		pairs[i].value = (char *)labels->items[i].value;
		pair_list[i] = &pairs[i];
	}
	sample.raw_profile = (ProtobufCBinaryData){ .len = n_pprof, .data = (uint8_t *)pprof };
	series.n_labels = labels->n;
	series.labels = pair_list;
	series.n_samples = 1;
	series.samples = &samples;
	request.n_series = 1;
	request.series = &series_list;
	size_t n = push__v1__push_request__get_packed_size(&request);
	uint8_t *body = malloc(n);
	if (!body)
		return -ENOMEM;
	*ret_n = push__v1__push_request__pack(&request, body);
	*ret_body = body;
	return 0;
}

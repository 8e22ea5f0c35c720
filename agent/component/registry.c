/* SPDX-License-Identifier: Apache-2.0 */
/* All kinds of components. */
#include "agent/component/kinds.h"

#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/suggest.h"

static const struct component_kind *const kinds[] = {
	&discovery_dns_kind,
	&discovery_docker_kind,
	&discovery_file_kind,
	&discovery_http_kind,
	&discovery_kubelet_kind,
	&discovery_kubernetes_kind,
	&discovery_process_kind,
	&discovery_relabel_kind,
	&http_kind,
	&livedebugging_kind,
	&local_file_kind,
	&logging_kind,
	&otelcol_auth_basic_kind,
	&otelcol_auth_bearer_kind,
	&otelcol_auth_headers_kind,
	&otelcol_auth_oauth2_kind,
	&otelcol_exporter_otlp_kind,
	&otelcol_exporter_otlphttp_kind,
	&otelcol_receiver_otlp_kind,
	&otelcol_receiver_pyroscope_kind,
	&pyroscope_ebpf_kind,
	&pyroscope_receive_http_kind,
	&pyroscope_relabel_kind,
	&pyroscope_scrape_kind,
	&pyroscope_store_kind,
	&pyroscope_write_kind,
	&remote_http_kind,
	&remotecfg_kind,
	&tracing_kind,
};

const struct component_kind *component_kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

/* Up to its last dot. */
static size_t family_len(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) + 1 : 0;
}

/* A right beginning makes any two names of a family alike: then only the rest is compared. */
const char *component_kind_suggest(const char *name)
{
	const char *names[ARRAY_SIZE(kinds)];
	size_t n_family = family_len(name);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (n_family > 0 && strncmp(kinds[i]->name, name, n_family) == 0)
			names[n++] = kinds[i]->name + n_family;
	if (n > 0) {
		const char *rest = suggest_nearest(name + n_family, names, n);

		return rest ? rest - n_family : NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		names[i] = kinds[i]->name;
	return suggest_nearest(name, names, ARRAY_SIZE(names));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Docker's answers: containers, a zero byte, networks, a zero byte, events. What comes out is a list of sound targets. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/discovery/docker_api.h"
#include "agent/discovery/docker_targets.h"
#include "agent/discovery/json_stream.h"
#include "agent/util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_event(json_t *event, void *data)
{
	*(unsigned int *)data += docker_event_matters(event);
	return 0;
}

static void feed_events(struct str text)
{
	struct json_stream stream;
	unsigned int n = 0;

	json_stream_init(&stream, 4096);
	(void)json_stream_feed(&stream, text.p, text.n / 2, on_event, &n);
	(void)json_stream_feed(&stream, text.p + text.n / 2, text.n - text.n / 2, on_event, &n);
	json_stream_fini(&stream);
}

static void check_target(const struct labels *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *name = l->items[i].name;

		assert(strcmp(name, "__address__") == 0 ||
		       strncmp(name, "__meta_docker_", 14) == 0);
		assert(strspn(name,
			      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
		       strlen(name));
		assert(*l->items[i].value && str_is_utf8(str_from(l->items[i].value)));
	}
}

static void make_targets(struct str containers_text, struct str networks_text, bool first)
{
	const struct docker_targets_options o = { .port = 80,
						  .host_networking_host = "localhost",
						  .match_first_network = first };
	_cleanup_target_list_ struct target_list list = { 0 };
	json_t *containers =
		json_loadb(containers_text.p ? containers_text.p : "", containers_text.n, 0, NULL);
	json_t *networks =
		json_loadb(networks_text.p ? networks_text.p : "", networks_text.n, 0, NULL);
	struct docker_counts counts;

	if (docker_targets_make(containers, networks, &o, &list, &counts) == 0) {
		assert(counts.n_containers <= json_array_size(containers));
		assert(counts.n_without_network <= counts.n_containers);
		for (size_t i = 0; i < list.n; i++)
			check_target(list.items[i]);
	}
	json_decref(containers);
	json_decref(networks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = { (const char *)data, size };
	struct str parts[3] = { 0 };

	for (size_t i = 0; i < 3 && str_split(&rest, '\0', &parts[i]); i++)
		;
	make_targets(parts[0], parts[1], true);
	make_targets(parts[0], parts[1], false);
	if (parts[2].p)
		feed_events(parts[2]);
	return 0;
}

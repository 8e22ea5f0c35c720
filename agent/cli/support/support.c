/* SPDX-License-Identifier: Apache-2.0 */
/* The support bundle. The loop takes components and counters as of one moment; files are read, texts written and compressed elsewhere. */
#include "agent/cli/support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "agent/cli/run/agent.h"
#include "agent/cli/support/redact.h"
#include "agent/cli/support/zip.h"
#include "agent/component/ebpf/host_report.h"
#include "agent/component/json/component_json.h"
#include "agent/util/file.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "agent/version.h"

#define MEMBER_MAX_BYTES ((size_t)HTTP_SERVER_MAX_ANSWER_BYTES)
#define NAME_MAX_BYTES 8192

struct bundle {
	struct answer_job job;
	struct agent *a; /* the loop's, but for its options, which never change */
	char config_hash[CONFIG_HASH_BYTES];
	bool watches;
	struct component_snapshot *components; /* NULL: not yet */
	struct telemetry_snapshot *metrics;
	struct redactor redactor;
	struct zip zip;
};

/* What the configuration calls a secret is in no other member either. */
static int add_text(struct bundle *b, const char *name, const struct buf *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(2 * MEMBER_MAX_BYTES);
	int r = redact_text(&b->redactor, buf_str(text), text->len, &out);

	return r < 0 ? r : zip_add(&b->zip, name, buf_str(&out), out.len);
}

/* Below "config/", whatever it is called outside: no member leaves the folder that the file is unpacked into. */
static void put_member_name(struct buf *name, size_t i, const char *path)
{
	struct str base = str_basename(str_from(path));

	(void)buf_printf(name, "config/%02zu-%.*s", i + 1, (int)base.n, base.p);
}

static int add_source(struct bundle *b, size_t i, const struct river_source *source)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * CONFIG_FILE_MAX_BYTES);
	_cleanup_buf_ struct buf name = BUF_INIT(NAME_MAX_BYTES);
	int r = redact_config(&b->redactor, source->text, source->len, &text);

	put_member_name(&name, i, source->file);
	if (r == REDACT_UNREADABLE)
		(void)buf_printf(&text,
				 "%s cannot be parsed: what is secret in it cannot be told, it is "
				 "left out\n",
				 source->file);
	return r < 0 ? r : add_text(b, buf_str(&name), &text);
}

/* As they are now; whether that is what runs is told by the hashes among the facts. */
static int add_config(struct bundle *b, char hash[static CONFIG_HASH_BYTES])
{
	_cleanup_config_texts_ struct config_texts texts = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(NAME_MAX_BYTES);
	int r = config_texts_read(&b->a->options.config, &why, &texts);

	if (r < 0)
		return add_text(b, "config/unreadable.txt", &why);
	config_texts_hash(&texts, hash);
	for (size_t i = 0; r == 0 && i < texts.n; i++)
		r = add_source(b, i, &texts.sources[i]);
	return r;
}

static int put_bytes(const char *bytes, size_t n, void *data)
{
	return buf_append(data, bytes, n);
}

/* No table knows what is secret among the arguments of a declared component. */
static void hide_declared(json_t *components)
{
	json_t *c, *argument;
	size_t i, k;

	json_array_foreach(components, i, c)
	{
		if (component_kind_find(json_string_value(json_object_get(c, "name"))))
			continue;
		json_array_foreach(json_object_get(c, "arguments"), k, argument)
		{
			(void)json_object_set_new(
				argument, "value",
				json_pack("{s:s, s:s}", "type", "string", "value", REDACTED));
		}
	}
}

static int add_components(struct bundle *b)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MEMBER_MAX_BYTES);
	json_t *json = components_json(b->components, NULL);

	hide_declared(json);
	int r = json ? json_dump_callback(json, put_bytes, &text, JSON_INDENT(2)) : -1;
	json_decref(json);
	(void)buf_append_char(&text, '\n');
	return r < 0 ? -ENOMEM : add_text(b, "components.json", &text);
}

static int add_metrics(struct bundle *b)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MEMBER_MAX_BYTES);
	int r = agent_metrics_write(b->metrics, b->config_hash, &text);

	return r < 0 ? r : add_text(b, "metrics.txt", &text);
}

static int add_log(struct bundle *b)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * LOG_RECENT_MAX);
	int r = log_recent(&text);

	return r < 0 ? r : add_text(b, "log.txt", &text);
}

static void put_file(struct buf *out, const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)64 << 10);
	int r = file_read(AT_FDCWD, path, &text);
	struct str trimmed = str_trim((struct str){ buf_str(&text), text.len });

	(void)buf_printf(out, "%s: %.*s%s\n", path, (int)trimmed.n, trimmed.p,
			 r < 0 ? strerror(-r) : "");
}

static void put_process(struct buf *out, const struct bundle *b, const char *hash)
{
	const struct agent *a = b->a;

	(void)buf_append_str(out, "command: xagent");
	for (char **arg = a->options.argv; arg && *arg; arg++)
		(void)buf_printf(out, " %s", *arg);
	(void)buf_printf(out, "\nuid: %u\n", (unsigned int)geteuid());
	(void)buf_printf(
		out, "config path: %s\nconfig watch: %s\nstorage path: %s\nstability level: %s\n",
		a->options.config.path, b->watches ? "yes" : "no", a->options.storage_path,
		stability_text(a->options.stability));
	(void)buf_printf(out, "config sha256, loaded: %s\nconfig sha256, on disk: %s\n",
			 b->config_hash, hash);
}

static void put_host_view(struct buf *out)
{
	struct host_view view;

	host_report_read(&view);
	(void)buf_printf(out, "place: %s\n", host_place_name(view.place));
	if (host_view_worst(&view) == HOST_FINDING_MAX)
		(void)buf_append_str(out, "part of the host that is not seen: none\n");
	host_report_text(&view, out);
}

static int add_facts(struct bundle *b, const char *hash)
{
	static const char *const files[] = {
		"/proc/sys/kernel/perf_event_paranoid",
		"/proc/sys/kernel/perf_event_max_sample_rate",
		"/proc/sys/kernel/perf_cpu_time_max_percent",
		"/proc/sys/kernel/kptr_restrict",
		"/proc/sys/kernel/unprivileged_bpf_disabled",
		"/sys/kernel/security/lockdown",
		"/sys/devices/system/cpu/online",
		"/proc/self/cgroup",
		"/proc/self/limits",
		"/proc/self/status", /* capabilities, namespaces' pids, memory */
		"/proc/loadavg",
		"/proc/version",
	};
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)1 << 20);
	struct utsname u;

	(void)buf_printf(&out, "xagent: %s\n", XAGENT_VERSION);
	if (uname(&u) == 0)
		(void)buf_printf(&out, "kernel: %s %s %s\n", u.sysname, u.release, u.machine);
	(void)buf_printf(&out, "kernel types: %s\n",
			 access("/sys/kernel/btf/vmlinux", R_OK) == 0 ? "yes" : "no");
	put_process(&out, b, hash);
	put_host_view(&out);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put_file(&out, files[i]);
	return add_text(b, "facts.txt", &out);
}

/* The configuration comes first: the others are to be without its secrets. */
static int add_all(struct bundle *b)
{
	char hash[CONFIG_HASH_BYTES] = "";
	int r = add_config(b, hash);

	if (r < 0)
		return r;
	r = add_facts(b, hash);
	if (r < 0)
		return r;
	r = add_components(b);
	if (r < 0)
		return r;
	r = add_metrics(b);
	if (r < 0)
		return r;
	r = add_log(b);
	if (r < 0)
		return r;
	return zip_end(&b->zip);
}

static int take(struct bundle *b)
{
	struct graph *g = b->a->graph;

	memcpy(b->config_hash, b->a->config_hash, sizeof(b->config_hash));
	b->watches = b->a->watch;
	graph_check(g);
	int r = component_snapshot_new(g, &b->components);
	for (size_t i = 0; r == 0 && i < graph_n(g); i++)
		r = component_snapshot_add_detail(b->components, g, i);
	return r == 0 ? telemetry_snapshot_new(b->a->telemetry, &b->metrics) : r;
}

static void answer_no_bundle(int error, struct http_answer *answer)
{
	buf_reset(&answer->body);
	answer->status = 500;
	(void)buf_printf(&answer->body, "the support bundle cannot be made: %s\n",
			 error == -E2BIG ? "the configuration holds more texts that may be secrets "
					   "than can be looked for"
					 : strerror(-error));
}

static enum answer_step look(struct answer_job *job, struct http_answer *answer)
{
	struct bundle *b = CONTAINER_OF(job, struct bundle, job);

	if (b->components)
		return ANSWER_SEND;
	int r = take(b);
	if (r == 0)
		return ANSWER_MAKE;
	answer_no_bundle(r, answer);
	return ANSWER_SEND;
}

static void make(struct answer_job *job, struct http_answer *answer)
{
	struct bundle *b = CONTAINER_OF(job, struct bundle, job);

	zip_init(&b->zip, &answer->body, time(NULL));
	int r = add_all(b);
	zip_fini(&b->zip);
	redactor_fini(&b->redactor);
	if (r == 0)
		answer->content_type = "application/zip";
	else
		answer_no_bundle(r, answer);
}

static void bundle_free(struct answer_job *job)
{
	struct bundle *b = CONTAINER_OF(job, struct bundle, job);

	component_snapshot_free(b->components);
	telemetry_snapshot_free(b->metrics);
	free(b);
}

void support_answer(struct agent *a, const struct http_call *call, struct http_answer *answer)
{
	struct bundle *b = calloc(1, sizeof(*b));

	if (!b) {
		answer->body.failed = true;
		return;
	}
	b->job = (struct answer_job){ .look = look, .make = make, .free = bundle_free };
	b->a = a;
	answer_queue_put(a->answers, &b->job, call, answer);
}

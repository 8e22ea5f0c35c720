/* SPDX-License-Identifier: Apache-2.0 */
/* The older profiler's configuration in ours. */
#include "agent/cli/config/old_river.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/json/duration_text.h"
#include "agent/util/str.h"

#define DEFAULT_URL "http://127.0.0.1:4040"
/* The kernel's names of processes are cut at this length. */
#define COMM_MAX 15
/* How the older profiler called what no target had matched. */
#define HOST_NAME "host"

static void put_quoted(struct buf *out, const char *text)
{
	(void)buf_append_char(out, '"');
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			(void)buf_printf(out, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			(void)buf_printf(out, "\\x%02x", *p);
		else
			(void)buf_append_char(out, (char)*p);
	}
	(void)buf_append_char(out, '"');
}

/* web, web_pgid_4711, web_pidns_4026532197 */
static void put_service(struct buf *out, const struct old_target *t)
{
	(void)buf_append_str(out, t->name);
	if (t->match == OLD_MATCH_PGID || t->match == OLD_MATCH_PIDNS)
		(void)buf_printf(out, "_%s_%s", t->match == OLD_MATCH_PGID ? "pgid" : "pidns",
				 t->value);
}

/* "service_name" = …, and the target's own labels. */
static void put_labels(struct buf *out, const struct old_target *t, const char *indent)
{
	_cleanup_buf_ struct buf service = BUF_INIT((size_t)1 << 20);

	put_service(&service, t);
	(void)buf_printf(out, "%s\"service_name\" = ", indent);
	put_quoted(out, buf_str(&service));
	(void)buf_append_str(out, ",\n");
	for (size_t i = 0; i < t->n_labels; i++) {
		(void)buf_append_str(out, indent);
		put_quoted(out, t->labels[i].name);
		(void)buf_append_str(out, " = ");
		put_quoted(out, t->labels[i].value);
		(void)buf_append_str(out, ",\n");
	}
}

/* The file's name with everything taken as it is; a name of full length may have been cut. */
static void put_pattern(struct buf *out, const char *comm)
{
	_cleanup_buf_ struct buf pattern = BUF_INIT((size_t)1 << 20);

	(void)buf_append_str(&pattern, "(?:.*/)?");
	for (const char *p = comm; *p; p++)
		(void)buf_printf(&pattern, "%s%c", strchr("\\.+*?()|[]{}^$", *p) ? "\\" : "", *p);
	if (strlen(comm) >= COMM_MAX)
		(void)buf_append_str(&pattern, "[^/]*");
	put_quoted(out, buf_str(&pattern));
}

static void put_rule(struct buf *out, const char *comm, const char *label, const char *value)
{
	_cleanup_buf_ struct buf replacement = BUF_INIT((size_t)1 << 20);

	for (const char *p = value; *p; p++)
		(void)buf_printf(&replacement, "%s%c", *p == '$' ? "$" : "", *p);
	(void)buf_append_str(
		out,
		"\n\trule {\n\t\tsource_labels = [\"__meta_process_exe\"]\n\t\tregex         = ");
	put_pattern(out, comm);
	(void)buf_append_str(out, "\n\t\ttarget_label  = ");
	put_quoted(out, label);
	(void)buf_append_str(out, "\n\t\treplacement   = ");
	put_quoted(out, buf_str(&replacement));
	(void)buf_append_str(out, "\n\t}\n");
}

static void put_rules(struct buf *out, const struct old_target *t)
{
	put_rule(out, t->value, "service_name", t->name);
	for (size_t i = 0; i < t->n_labels; i++)
		put_rule(out, t->value, t->labels[i].name, t->labels[i].value);
}

static size_t count(const struct old_yaml *y, enum old_match match)
{
	size_t n = 0;

	for (size_t i = 0; i < y->n_targets; i++)
		n += y->targets[i].match == match;
	return n;
}

/* The first target that matches has the process, so a second one of the same name never did. */
static bool is_shadowed(const struct old_yaml *y, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (y->targets[k].match == y->targets[i].match &&
		    y->targets[i].match != OLD_MATCH_NONE &&
		    strcmp(y->targets[k].value, y->targets[i].value) == 0)
			return true;
	return false;
}

static void note_target(struct old_notes *notes, const struct old_yaml *y, size_t i)
{
	const struct old_target *t = &y->targets[i];

	if (is_shadowed(y, i)) {
		old_note(notes, false, t->at,
			 "target \"%s\" is left out: an earlier one has its processes", t->name);
		return;
	}
	switch (t->match) {
	case OLD_MATCH_COMM:
		old_note(notes, false, t->at,
			 "target \"%s\": processes are found by the name of the program's file, "
			 "\"%s\", not by the name they gave themselves",
			 t->name, t->value);
		break;
	case OLD_MATCH_PGID:
		old_note(notes, false, t->at,
			 "target \"%s\": of process group %s only its leader is found", t->name,
			 t->value);
		break;
	case OLD_MATCH_PIDNS:
		old_note(notes, false, t->at,
			 "target \"%s\" cannot be expressed: pid namespace %s has another number "
			 "after its next start; name its container by __container_id__",
			 t->name, t->value);
		break;
	case OLD_MATCH_NONE:
	case OLD_MATCH_MAX:
		break;
	}
}

static void put_discovery(const struct old_yaml *y, struct buf *out)
{
	if (count(y, OLD_MATCH_COMM) == 0)
		return;
	(void)buf_append_str(out, "discovery.process \"all\" { }\n\n"
				  "discovery.relabel \"by_name\" {\n"
				  "\ttargets = discovery.process.all.targets\n");
	for (size_t i = 0; i < y->n_targets; i++)
		if (y->targets[i].match == OLD_MATCH_COMM && !is_shadowed(y, i))
			put_rules(out, &y->targets[i]);
	(void)buf_append_str(out, "\n\trule {\n"
				  "\t\tsource_labels = [\"service_name\"]\n"
				  "\t\tregex         = \".+\"\n"
				  "\t\taction        = \"keep\"\n"
				  "\t}\n}\n\n");
}

static void put_static_target(const struct old_target *t, struct buf *out)
{
	const char *before = t->match == OLD_MATCH_PIDNS ? "\t\t// " : "\t\t";
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 20);
	struct str rest, line;

	(void)buf_append_str(&text, "{\n");
	if (t->match == OLD_MATCH_PIDNS) {
		(void)buf_append_str(&text,
				     "\t\"__container_id__\" = \"64 hexadecimal digits\",\n");
	} else {
		(void)buf_append_str(&text, "\t\"__process_pid__\" = ");
		put_quoted(&text, t->value);
		(void)buf_append_str(&text, ",\n");
	}
	put_labels(&text, t, "\t");
	(void)buf_append_str(&text, "},");
	rest = (struct str){ buf_str(&text), text.len };
	while (str_split(&rest, '\n', &line))
		(void)buf_printf(out, "%s%.*s\n", before, (int)line.n, line.p);
}

static size_t count_static(const struct old_yaml *y)
{
	return count(y, OLD_MATCH_PGID) + count(y, OLD_MATCH_PIDNS);
}

static void put_static(const struct old_yaml *y, struct buf *out)
{
	(void)buf_append_str(out, "[\n");
	for (size_t i = 0; i < y->n_targets; i++)
		if ((y->targets[i].match == OLD_MATCH_PGID ||
		     y->targets[i].match == OLD_MATCH_PIDNS) &&
		    !is_shadowed(y, i))
			put_static_target(&y->targets[i], out);
	(void)buf_append_str(out, "\t]");
}

static void put_targets(const struct old_yaml *y, struct buf *out)
{
	bool found = count(y, OLD_MATCH_COMM) > 0;
	bool fixed = count_static(y) > 0;

	(void)buf_append_str(out, "\ttargets = ");
	if (found && fixed)
		(void)buf_append_str(out, "array.concat(discovery.relabel.by_name.output, ");
	else if (found)
		(void)buf_append_str(out, "discovery.relabel.by_name.output");
	if (fixed)
		put_static(y, out);
	else if (!found)
		(void)buf_append_str(out, "[]");
	(void)buf_append_str(out, found && fixed ? ")\n" : "\n");
}

static const struct old_target *default_target(const struct old_yaml *y)
{
	for (size_t i = 0; i < y->n_targets; i++)
		if (y->targets[i].match == OLD_MATCH_NONE)
			return &y->targets[i];
	return NULL;
}

/* What no target has is profiled too, as the host's. */
static void put_default(const struct old_yaml *y, struct buf *out)
{
	const struct old_target *t = default_target(y);

	(void)buf_append_str(out, "\ttargets_only = false\n\tdefault_target = {\n");
	if (t && strcmp(t->name, HOST_NAME) != 0) {
		put_labels(out, t, "\t\t");
	} else {
		struct old_target host = t ? *t : (struct old_target){ 0 };

		(void)buf_append_str(out,
				     "\t\t\"service_name\" = \"xm_host_\" + constants.hostname,\n");
		for (size_t i = 0; i < host.n_labels; i++) {
			(void)buf_append_str(out, "\t\t");
			put_quoted(out, host.labels[i].name);
			(void)buf_append_str(out, " = ");
			put_quoted(out, host.labels[i].value);
			(void)buf_append_str(out, ",\n");
		}
	}
	(void)buf_append_str(out, "\t}\n");
}

static void put_ebpf(const struct old_yaml *y, struct buf *out)
{
	char interval[DURATION_TEXT_BYTES];

	(void)buf_append_str(out, "pyroscope.ebpf \"profile\" {\n"
				  "\tforward_to = [pyroscope.write.server.receiver]\n");
	if (y->interval_ns)
		(void)buf_printf(out, "\tcollect_interval = \"%s\"\n",
				 duration_text((int64_t)y->interval_ns, interval));
	if (y->sample_rate_hz)
		(void)buf_printf(out, "\tsample_rate = %" PRIu64 "\n", y->sample_rate_hz);
	put_targets(y, out);
	put_default(y, out);
	(void)buf_append_str(out, "}\n\n");
}

static void put_write(const struct old_yaml *y, struct old_notes *notes, struct buf *out)
{
	if (!y->url)
		old_note(notes, false, NULL,
			 "there is no URL of a server: " DEFAULT_URL " is taken");
	(void)buf_append_str(out, "pyroscope.write \"server\" {\n\tendpoint {\n\t\turl = ");
	put_quoted(out, y->url ? y->url : DEFAULT_URL);
	(void)buf_append_str(out, "\n\t}\n}\n");
}

int old_river_write(const struct old_yaml *y, struct old_notes *notes, struct buf *out)
{
	for (size_t i = 0; i < y->n_targets; i++)
		note_target(notes, y, i);
	put_discovery(y, out);
	put_ebpf(y, out);
	put_write(y, notes, out);
	return out->failed ? -ENOBUFS : 0;
}

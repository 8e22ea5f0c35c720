/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles of made-up services, through everything that profiles of real ones go through from the end of an interval on: split, encoded,
 * queued, sent, kept on disk. usage: send NAME=VALUE…
 *
 * Prints "made SAMPLES" when an interval has been handed over, SAMPLES being those of all so far, and then and ten times a second what became
 * of them: "state sent=… samples=… dropped=… queued=… memory=… failures=…", profiles but for samples and the bytes in memory. Ends when everything is sent or lost, or after a flush
 * at SIGTERM, with the numbers of the endpoint, the cost of a profile, and "end".
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agent/profile/build.h"
#include "agent/profile/interval.h"
#include "agent/profile/naming.h"
#include "agent/profile/stack_order.h"
#include "agent/push/push.h"
#include "agent/symbol/store.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define PERIOD_NS UINT64_C(10000000)
#define N_FUNCTIONS 512
#define KERNEL_TEXT UINT64_C(0xffffffff81000000)
#define FUNCTION_BYTES UINT64_C(0x1000)
#define MAX_DEPTH 120
#define INTERVAL_MAX_BYTES ((size_t)256 << 20)
#define NAMER_MAX_BYTES ((size_t)16 << 20)
#define MAX_EXPOSED_BYTES ((size_t)8 << 20)
#define STATE_NS (NS_PER_S / 10)
#define FLUSH_NS (5 * NS_PER_S)

struct options {
	const char *url, *protocol, *spool, *ca;
	uint64_t services, stacks, depth, intervals, interval_ms, spread_ms, max_age_s, timeout_ms;
	uint64_t pause_every; /* so many intervals it waits for SIGUSR1; 0: never */
	uint64_t spool_bytes;
};

struct send {
	struct options options;
	enum profile_form form;
	char kallsyms[64];
	struct loop *loop;
	struct telemetry *telemetry;
	struct http_client *http;
	struct pusher *pusher;
	struct symbol_store *store;
	struct labels **services;
	struct loop_timer *timer, *state_timer;
	uint64_t n_intervals, n_samples, n_profiles, n_bytes;
	uint64_t last_profile_ns, due_ns;
	uint64_t made_ns, encoded_ns,
		queued_ns; /* CPU time of this thread: all of these, and two parts */
	uint64_t begin_ns; /* the same of the process, when it began */
	bool ended, paused;
};

static const struct protocol {
	const char *name;
	const struct push_protocol *protocol;
	enum profile_form form;
} protocols[] = {
	{ "pyroscope", &push_pyroscope, FORM_PPROF },
	{ "otlp_http", &push_otlp_http_gzip, FORM_OTLP_GZIP },
	{ "otlp_grpc", &push_otlp_grpc_gzip, FORM_OTLP_GZIP },
};

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ---- profiles ---- */

static struct frame_ref frame(uint64_t function)
{
	return frame_ref_of(FRAME_KIND_KERNEL,
			    KERNEL_TEXT + function % N_FUNCTIONS * FUNCTION_BYTES + 16);
}

/* The two innermost functions tell stacks apart; the others are those of the service. */
static int add_stack(struct send *s, struct interval *interval, uint64_t service, uint64_t stack)
{
	struct frame_ref frames[MAX_DEPTH];
	const uint64_t count = 1 + (service + stack + s->n_intervals) % 3;
	const int64_t value = (int64_t)(count * PERIOD_NS);
	const struct samples samples = { .labels = s->services[service],
					 .values = &value,
					 .frames = frames,
					 .n_kernel = (uint16_t)s->options.depth,
					 .count = count };
	bool is_new;

	frames[0] = frame(stack);
	frames[1] = frame(stack / N_FUNCTIONS);
	for (uint64_t i = 2; i < s->options.depth; i++)
		frames[i] = frame(service * 7 + i);
	s->n_samples += count;
	return interval_add(interval, &samples, &is_new);
}

static int fill(struct send *s, struct interval *interval)
{
	int r = 0;

	for (uint64_t i = 0; r == 0 && i < s->options.services; i++)
		for (uint64_t k = 0; r == 0 && k < s->options.stacks; k++)
			r = add_stack(s, interval, i, k);
	interval->begin_real_ns = clock_real_ns() - s->options.interval_ms * NS_PER_MS;
	interval->end_real_ns = clock_real_ns();
	interval_end_after(interval, s->last_profile_ns);
	return r;
}

static int push(struct send *s, struct profile *p)
{
	struct push_label labels[LABELS_RAW_MAX];
	uint64_t begin_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	int r = profile_make(p, s->form);
	struct push_item item = {
		.labels = labels,
		.n_labels = p->labels->n,
		.bytes = profile_form(p, s->form),
		.deadline_ns = clock_real_ns() + s->options.max_age_s * NS_PER_S,
		.spread_ns = s->n_intervals > 0 ? s->options.spread_ms * NS_PER_MS : 0,
		.n_samples = p->n_samples,
	};

	s->encoded_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	if (r < 0)
		return r;
	for (size_t i = 0; i < item.n_labels; i++)
		labels[i] =
			(struct push_label){ p->labels->items[i].name, p->labels->items[i].value };
	profile_drop_tables(p);
	s->n_profiles++;
	s->n_bytes += item.bytes->n;
	begin_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	r = pusher_push(s->pusher, &item);
	s->queued_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return r;
}

static int push_all(struct send *s, struct interval *interval, struct namer *namer)
{
	struct build b;
	int r = 0;

	build_init(&b);
	b.wants = PROFILE_WANT_TABLES;
	b.max_kept_bytes = SIZE_MAX;
	stack_order_interval(interval);
	namer_name_all(namer);
	build_profiles(interval, namer, &b);
	if (b.summary.n_failed > 0)
		r = -1;
	s->last_profile_ns = build_last_time_ns(&b);
	for (const struct built *x = b.first; r == 0 && x; x = x->next)
		r = push(s, x->profile);
	build_fini(&b);
	return r;
}

/* Of one interval. */
static int make(struct send *s)
{
	_cleanup_(interval_freep) struct interval *interval = NULL;
	_cleanup_(namer_freep) struct namer *namer = NULL;
	uint64_t begin_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	int r = interval_new(PERIOD_NS, INTERVAL_MAX_BYTES, &interval);

	if (r == 0)
		r = fill(s, interval);
	symbol_store_begin(s->store);
	if (r == 0)
		r = namer_new(interval, s->store, NAMER_MAX_BYTES, &namer);
	if (r == 0)
		r = push_all(s, interval, namer);
	symbol_store_end(s->store);
	s->made_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return r;
}

/* ---- what is printed ---- */

static void print_state(const struct send *s)
{
	struct push_endpoint_stats stats;

	pusher_stats(s->pusher, 0, &stats);
	printf("state sent=%" PRIu64 " samples=%" PRIu64 " dropped=%" PRIu64
	       " queued=%zu memory=%zu failures=%u\n",
	       stats.sent_profiles, stats.sent_samples, stats.dropped_profiles,
	       stats.queued_profiles, stats.queued_bytes, stats.n_failures);
	(void)fflush(stdout);
}

static void print_metrics(struct send *s)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_EXPOSED_BYTES);

	if (telemetry_text(s->telemetry, &out) == 0)
		printf("%s", buf_str(&out));
}

static void print_end(struct send *s)
{
	uint64_t all_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - s->begin_ns;

	print_state(s);
	print_metrics(s);
	printf("cost profiles=%" PRIu64 " bytes=%" PRIu64 " samples=%" PRIu64 " encode_ns=%" PRIu64
	       " push_ns=%" PRIu64 "\nend\n",
	       s->n_profiles, s->n_bytes, s->n_samples, s->encoded_ns,
	       all_ns - s->made_ns + s->queued_ns);
	(void)fflush(stdout);
}

/* ---- its course ---- */

static void on_flushed(void *data)
{
	struct send *s = data;

	loop_quit(s->loop, 0);
}

static void on_signal(int signo, void *data)
{
	struct send *s = data;

	if (signo == SIGUSR1) {
		s->due_ns = clock_mono_ns();
		if (s->paused)
			loop_timer_arm(s->timer, s->due_ns);
		s->paused = false;
		return;
	}
	if (!s->ended)
		pusher_flush(s->pusher, clock_mono_ns() + FLUSH_NS, on_flushed, s);
	s->ended = true;
}

static void on_state(void *data)
{
	struct send *s = data;
	struct push_endpoint_stats stats;

	print_state(s);
	pusher_stats(s->pusher, 0, &stats);
	if (!s->ended && s->n_intervals >= s->options.intervals && stats.queued_profiles == 0)
		loop_quit(s->loop, 0);
	loop_timer_arm(s->state_timer, clock_mono_ns() + STATE_NS);
}

static void on_interval(void *data)
{
	struct send *s = data;

	if (s->ended || s->n_intervals >= s->options.intervals)
		return;
	if (make(s) < 0) {
		loop_quit(s->loop, 1);
		return;
	}
	s->n_intervals++;
	printf("made %" PRIu64 "\n", s->n_samples);
	print_state(s);
	s->paused = s->options.pause_every && s->n_intervals % s->options.pause_every == 0;
	if (s->paused)
		return;
	s->due_ns = MAX_OF(s->due_ns + s->options.interval_ms * NS_PER_MS, clock_mono_ns());
	loop_timer_arm(s->timer, s->due_ns);
}

/* ---- its parts ---- */

static int open_names(struct send *s)
{
	struct symbol_store_options o = SYMBOL_STORE_OPTIONS_INIT;

	(void)snprintf(s->kallsyms, sizeof(s->kallsyms), "/tmp/xagent-send-XXXXXX");
	int fd = mkstemp(s->kallsyms);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return -1;
	for (uint64_t i = 0; i < N_FUNCTIONS; i++)
		(void)fprintf(f, "%016" PRIx64 " T component_handle_request_%03" PRIu64 "\n",
			      KERNEL_TEXT + i * FUNCTION_BYTES, i);
	o.kallsyms_path = s->kallsyms;
	o.notes_path = "/nonexistent/notes";
	return fclose(f) == 0 ? symbol_store_new(&o, &s->store) : -1;
}

static int open_services(struct send *s)
{
	s->services = calloc(s->options.services, sizeof(struct labels *));
	for (uint64_t i = 0; s->services && i < s->options.services; i++) {
		char name[32];
		const struct label items[] = { { "__name__", "process_cpu" },
					       { "service_name", name } };

		(void)snprintf(name, sizeof(name), "service-%03" PRIu64, i);
		if (labels_new(items, ARRAY_SIZE(items), &s->services[i]) < 0)
			return -1;
	}
	return s->services ? 0 : -1;
}

static int open_pusher(struct send *s)
{
	struct push_endpoint_options endpoint = PUSH_ENDPOINT_OPTIONS_INIT;
	struct pusher_options o = PUSHER_OPTIONS_INIT;

	endpoint.url = s->options.url;
	endpoint.spool_path = s->options.spool;
	endpoint.spool_max_bytes = s->options.spool_bytes;
	endpoint.spool_max_age_ns = s->options.max_age_s * NS_PER_S;
	endpoint.tls.ca_file = s->options.ca;
	endpoint.remote_timeout_ns = s->options.timeout_ms * NS_PER_MS;
	/* An outage of a test is short. */
	endpoint.backoff.max_ns = 2 * NS_PER_S;
	o.endpoints = &endpoint;
	o.n_endpoints = 1;
	o.component_id = "send";
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (strcmp(protocols[i].name, s->options.protocol) == 0) {
			o.protocol = protocols[i].protocol;
			s->form = protocols[i].form;
		}
	return pusher_new(s->loop, s->http, s->telemetry, &o, &s->pusher);
}

static int open_all(struct send *s)
{
	sigset_t set;
	int r = loop_new(&s->loop);

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGUSR1);
	if (r == 0)
		r = loop_signals_new(s->loop, &set, on_signal, s);
	if (r == 0)
		r = telemetry_new(&s->telemetry);
	if (r == 0)
		r = http_client_new(s->loop, &s->http);
	if (r == 0)
		r = loop_timer_new(s->loop, on_interval, s, &s->timer);
	if (r == 0)
		r = loop_timer_new(s->loop, on_state, s, &s->state_timer);
	if (r == 0)
		r = open_names(s);
	if (r == 0)
		r = open_services(s);
	return r == 0 ? open_pusher(s) : r;
}

static void close_all(struct send *s)
{
	pusher_free(s->pusher);
	for (uint64_t i = 0; s->services && i < s->options.services; i++)
		labels_unref(s->services[i]);
	free(s->services);
	symbol_store_free(s->store);
	if (*s->kallsyms)
		(void)unlink(s->kallsyms);
	loop_timer_free(s->timer);
	loop_timer_free(s->state_timer);
	http_client_free(s->http);
	telemetry_free(s->telemetry);
	loop_free(s->loop);
}

/* ---- its options ---- */

static const struct text_option {
	const char *name;
	size_t at;
} text_options[] = {
	{ "url", offsetof(struct options, url) },
	{ "protocol", offsetof(struct options, protocol) },
	{ "spool", offsetof(struct options, spool) },
	{ "ca", offsetof(struct options, ca) },
};

static const struct number_option {
	const char *name;
	size_t at;
	uint64_t max;
} number_options[] = {
	{ "services", offsetof(struct options, services), 10000 },
	{ "stacks", offsetof(struct options, stacks), (uint64_t)N_FUNCTIONS *N_FUNCTIONS },
	{ "depth", offsetof(struct options, depth), MAX_DEPTH },
	{ "intervals", offsetof(struct options, intervals), 1000000 },
	{ "interval_ms", offsetof(struct options, interval_ms), 3600000 },
	{ "pause_every", offsetof(struct options, pause_every), 1000000 },
	{ "spread_ms", offsetof(struct options, spread_ms), 3600000 },
	{ "max_age_s", offsetof(struct options, max_age_s), 3300 },
	{ "timeout_ms", offsetof(struct options, timeout_ms), 60000 },
	{ "spool_bytes", offsetof(struct options, spool_bytes), UINT64_C(1) << 40 },
};

static int take_option(struct options *o, const char *argument)
{
	const char *value = strchr(argument, '=');
	size_t n = value ? (size_t)(value - argument) : 0;

	for (size_t i = 0; value && i < ARRAY_SIZE(text_options); i++)
		if (strncmp(text_options[i].name, argument, n) == 0 && !text_options[i].name[n]) {
			*(const char **)((char *)o + text_options[i].at) = value + 1;
			return 0;
		}
	for (size_t i = 0; value && i < ARRAY_SIZE(number_options); i++)
		if (strncmp(number_options[i].name, argument, n) == 0 && !number_options[i].name[n])
			return str_parse_u64(str_from(value + 1), 10, number_options[i].max,
					     (uint64_t *)((char *)o + number_options[i].at));
	return -1;
}

int main(int argc, char **argv)
{
	struct send s = { .options = { .protocol = "pyroscope",
				       .services = 1,
				       .stacks = 1,
				       .depth = 2,
				       .interval_ms = 1000,
				       .max_age_s = 3300,
				       .timeout_ms = 10000,
				       .spool_bytes = (uint64_t)256 << 20 } };
	int r = 0;

	log_configure(LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
	for (int i = 1; r == 0 && i < argc; i++) {
		r = take_option(&s.options, argv[i]);
		if (r < 0)
			fprintf(stderr, "send: what is %s?\n", argv[i]);
	}
	if (r == 0 && (!s.options.url || s.options.depth < 2))
		r = -1;
	if (r == 0)
		r = open_all(&s);
	if (r == 0) {
		s.due_ns = clock_mono_ns();
		s.begin_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
		on_interval(&s);
		on_state(&s);
		r = loop_run(s.loop);
		print_end(&s);
	}
	close_all(&s);
	return r == 0 ? 0 : 1;
}

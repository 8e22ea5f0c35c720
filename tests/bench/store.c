/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in store under a made-up load of a busy host: 50 services, a profile each every 15 seconds, stacks 30 deep that begin alike, most of
 * a profile's stacks seen before. usage: store
 *
 * Prints lines "name value": what a sample takes, what a profile costs, an hour of one service asked for, and the memory of the process once
 * the store is full. CPU time of this thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/store/query/query.h"
#include "agent/store/store.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "pprof/pprof.h"
#include "tests/support/store_sync.h"

#define N_SERVICES 50
#define INTERVAL_S 15
#define HOUR_TICKS (3600 / INTERVAL_S)
/* Of a profile, out of those that a service has; the first of these are the hottest. */
#define N_STACKS 60
#define STACK_BITS 9
/* A service's profiles repeat after so many; each has its own stacks and values. */
#define N_VARIANTS 24
#define DEPTH 30
#define SHARED_DEPTH 10
/* One stack in five ends in the kernel, where all services meet. */
#define KERNEL_DEPTH 6
/* So many functions may stand at one depth of a service. */
#define N_CHOICES 12
#define PERIOD INT64_C(10309278)
/* Room for a gzip member of a few bytes. */
#define TIME_BYTES 64
/* Profiles of our own, each way. */
#define N_OWN 1000
/* When the store is not full after so many hours, something is wrong. */
#define MAX_HOURS 48

static uint64_t clock_ns = UINT64_C(1700000000) * NS_PER_S;
static uint64_t random_state = 1;

static uint64_t store_clock(void)
{
	return clock_ns;
}

static uint64_t below(uint64_t n)
{
	random_state++;
	return hash_u64(random_state) % n;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static double rss_mib(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		(void)fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void die(const char *what, int r)
{
	(void)fprintf(stderr, "store: %s: %s\n", what, strerror(-r));
	_exit(1);
}

static uint64_t add_frame(struct pprof_builder *b, uint64_t mapping, const char *name,
			  const char *file, int64_t line)
{
	const struct pprof_function function = { .name = name,
						 .system_name = name,
						 .filename = file };
	struct pprof_line l = { .line = line };
	uint64_t location = 0;

	if (pprof_builder_function(b, &function, &l.function_id) != 0 ||
	    pprof_builder_location(b, mapping, 0, &l, 1, &location) != 0)
		die("a frame", -ENOMEM);
	return location;
}

/* Stacks branch every second frame, by one more bit of their number. */
static unsigned int choose(unsigned int service, unsigned int stack, unsigned int depth)
{
	unsigned int bits = depth < SHARED_DEPTH ? 0 : (depth - SHARED_DEPTH) / 2 + 1;

	if (bits > STACK_BITS)
		bits = STACK_BITS;
	return (unsigned int)(hash_u64((uint64_t)service << 48 | (uint64_t)depth << 32 |
				       stack >> (STACK_BITS - bits)) %
			      N_CHOICES);
}

static void add_stack(struct pprof_builder *b, uint64_t mapping, unsigned int service)
{
	uint64_t ids[DEPTH];
	unsigned int stack =
		(unsigned int)(below(1 << STACK_BITS) * below(1 << STACK_BITS)) >> STACK_BITS;

	for (unsigned int i = 0; i < DEPTH; i++) {
		char name[128], file[64] = "";
		unsigned int path = choose(service, stack, i);

		if (stack % 5 == 0 && i >= DEPTH - KERNEL_DEPTH) {
			(void)snprintf(name, sizeof(name), "kernel_function_%u_%u", i, path);
		} else {
			(void)snprintf(name, sizeof(name),
				       "service%u::package%u::Handler<T>::function_%u_%u", service,
				       i % 7, i, path);
			(void)snprintf(file, sizeof(file), "src/service%u/package%u.cc", service,
				       i % 7);
		}
		ids[DEPTH - 1 - i] = add_frame(b, mapping, name, file, file[0] ? 100 + i : 0);
	}
	if (pprof_builder_sample(b, ids, DEPTH, &(int64_t){ PERIOD * (int64_t)(1 + below(4)) },
				 NULL, 0) != 0)
		die("a sample", -ENOMEM);
}

static struct pprof_builder *make_tables(unsigned int service, uint64_t time_ns)
{
	struct pprof_options options = PPROF_OPTIONS_DEFAULT;
	struct pprof_mapping mapping = { .filename = "/usr/bin/service", .has_functions = true };
	struct pprof_builder *b;
	uint64_t id;

	options.period = PERIOD;
	options.time_ns = (int64_t)time_ns;
	if (pprof_builder_new(&options, &b) != 0 || pprof_builder_mapping(b, &mapping, &id) != 0)
		die("a profile", -ENOMEM);
	for (int i = 0; i < N_STACKS; i++)
		add_stack(b, id, service);
	return b;
}

static struct pprof_bytes make_profile(unsigned int service)
{
	struct pprof_builder *b = make_tables(service, 1);
	struct pprof_bytes bytes;

	if (pprof_builder_encode(b, &bytes) != 0)
		die("a profile", -ENOMEM);
	pprof_builder_free(b);
	return bytes;
}

/* The time once more, in a gzip member behind the other: of a field that comes twice the last counts. */
static size_t put_time(uint8_t *p, uint64_t time_ns)
{
	uint8_t field[16] = { 9 << 3 };
	z_stream z = { 0 };
	size_t n = 1;

	for (; time_ns >= 0x80; time_ns >>= 7)
		field[n++] = (uint8_t)(time_ns | 0x80);
	field[n++] = (uint8_t)time_ns;
	if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		die("zlib", -ENOMEM);
	z.next_in = field;
	z.avail_in = (uInt)n;
	z.next_out = p;
	z.avail_out = TIME_BYTES;
	(void)deflate(&z, Z_FINISH);
	n = TIME_BYTES - z.avail_out;
	(void)deflateEnd(&z);
	return n;
}

struct bench {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct store *store;
	struct labels *labels[N_SERVICES];
	struct pprof_bytes profiles[N_SERVICES][N_VARIANTS]; /* with room for the time behind */
	uint64_t n_ticks;
	uint64_t put_ns, worst_ns, n_puts, n_bytes;
};

static void start(struct bench *b, size_t max_bytes)
{
	struct store_options options = STORE_OPTIONS_INIT;
	_cleanup_buf_ struct buf why = BUF_INIT(1000);

	options.now_ns = store_clock;
	options.max_bytes = max_bytes;
	options.max_age_ns = MAX_HOURS * 3600 * NS_PER_S;
	int r = loop_new(&b->loop);

	r = r < 0 ? r : worker_new(b->loop, 4, &b->worker);
	r = r < 0 ? r : telemetry_new(&b->telemetry);
	r = r < 0 ? r : store_new(b->loop, b->worker, b->telemetry, &options, &why, &b->store);
	if (r < 0)
		die("the store", r);
	for (unsigned int i = 0; i < N_SERVICES; i++) {
		char name[32];
		const struct label items[] = { { "__name__", "process_cpu" },
					       { "host", "bench-host-1" },
					       { "namespace", "default" },
					       { "service_name", name } };

		(void)snprintf(name, sizeof(name), "default/service-%u", i);
		r = labels_new(items, ARRAY_SIZE(items), &b->labels[i]);
		if (r < 0)
			die("labels", r);
	}
}

static void stop(struct bench *b)
{
	store_free(b->store);
	telemetry_free(b->telemetry);
	worker_free(b->worker);
	loop_free(b->loop);
	for (unsigned int i = 0; i < N_SERVICES; i++) {
		labels_unref(b->labels[i]);
		for (unsigned int j = 0; j < N_VARIANTS; j++)
			pprof_bytes_fini(&b->profiles[i][j]);
	}
}

static void make_profiles(struct bench *b)
{
	for (unsigned int i = 0; i < N_SERVICES; i++)
		for (unsigned int j = 0; j < N_VARIANTS; j++) {
			struct pprof_bytes *p = &b->profiles[i][j];

			*p = make_profile(i);
			p->data = realloc(p->data, p->n + TIME_BYTES);
			if (!p->data)
				die("a profile", -ENOMEM);
		}
}

static void put_one(struct bench *b, unsigned int service)
{
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	const struct pprof_bytes *p =
		&b->profiles[service][hash_u64(b->n_ticks << 8 | service) % N_VARIANTS];
	size_t n = p->n + put_time(p->data + p->n, clock_ns + service * NS_PER_MS);
	uint64_t begin_ns = cpu_ns();
	int r = store_sync_put(b->store, b->labels[service], p->data, n, &why);
	uint64_t took_ns = cpu_ns() - begin_ns;

	if (r != STORE_KEPT)
		die(buf_str(&why), r < 0 ? r : -EINVAL);
	b->put_ns += took_ns;
	b->worst_ns = took_ns > b->worst_ns ? took_ns : b->worst_ns;
	b->n_puts++;
	b->n_bytes += n;
}

static void put_all(struct bench *b)
{
	for (unsigned int i = 0; i < N_SERVICES; i++)
		put_one(b, i);
	b->n_ticks++;
	clock_ns += INTERVAL_S * NS_PER_S;
}

struct asked {
	uint64_t view_ns, tree_ns;
	size_t n_nodes;
	int64_t total;
};

/* Everything a flame graph of an hour needs: the view, the selector, the tree with its totals. */
static struct asked ask(struct bench *b, const char *text)
{
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	struct selector *selector = NULL;
	struct call_tree *tree = NULL;
	struct store_view view;
	struct asked asked;
	struct query q = { .view = &view,
			   .profile_type = "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
			   .selectors = &selector,
			   .n_selectors = 1,
			   .end_ms = (int64_t)(clock_ns / NS_PER_MS) };
	uint64_t begin_ns = cpu_ns();

	q.start_ms = q.end_ms - 3600 * 1000;
	int r = store_sync_view(b->store, q.start_ms, q.end_ms, &view);
	asked.view_ns = cpu_ns() - begin_ns;
	begin_ns = cpu_ns();
	r = r < 0 ? r : selector_new(text, &why, &selector);
	r = r < 0 ? r : call_tree_new(NULL, QUERY_MAX_BYTES, &tree);
	r = r < 0 ? r : query_tree(&q, CALL_LEFT, tree);
	r = r < 0 ? r : call_tree_finish(tree);
	if (r < 0)
		die("a query", r);
	asked.tree_ns = cpu_ns() - begin_ns;
	asked.n_nodes = call_tree_n_nodes(tree);
	asked.total = call_tree_node(tree, CALL_ROOT)->total[CALL_LEFT];
	call_tree_free(tree);
	selector_free(selector);
	store_view_fini(&view);
	return asked;
}

static void print_hour(struct bench *b)
{
	struct asked one = ask(b, "{service_name=\"default/service-7\"}"), all = ask(b, "{}");
	struct store_stats stats;

	store_stats(b->store, &stats);
	(void)printf("profiles %" PRIu64 "\n", stats.n_profiles);
	(void)printf("samples %" PRIu64 "\n", stats.n_samples);
	(void)printf("bytes_a_sample %.2f\n", (double)stats.bytes / (double)stats.n_samples);
	(void)printf("received_bytes_a_sample %.2f\n",
		     (double)b->n_bytes / (double)stats.n_samples);
	(void)printf("put_us %.1f\n", (double)b->put_ns / (double)b->n_puts / 1e3);
	(void)printf("put_worst_ms %.2f\n", (double)b->worst_ns / 1e6);
	(void)printf("head_copy_ms %.2f\n", (double)one.view_ns / 1e6);
	(void)printf("hour_of_a_service_ms %.2f\n", (double)one.tree_ns / 1e6);
	(void)printf("hour_of_a_service_nodes %zu\n", one.n_nodes);
	(void)printf("hour_of_all_ms %.2f\n", (double)all.tree_ns / 1e6);
	(void)printf("hour_of_all_nodes %zu\n", all.n_nodes);
}

/* From what the worker has collected until it is in the store: as bytes, as a profile for a server goes, and as it is. Returns ns. */
static uint64_t put_own(struct bench *b, unsigned int i, bool as_bytes)
{
	_cleanup_buf_ struct buf why = BUF_INIT(1000);
	struct labels *labels = b->labels[i % N_SERVICES];
	uint64_t time_ns = clock_ns + i * NS_PER_MS;
	struct pprof_builder *tables = make_tables(i % N_SERVICES, time_ns);
	struct pprof_bytes bytes = { 0 };
	struct profile *profile;
	uint64_t begin_ns = cpu_ns();
	int r = profile_new(&tables, labels, N_STACKS, time_ns, &profile);

	if (r == 0 && as_bytes) {
		r = profile_encode(profile, FORM_PPROF, &bytes);
		r = r < 0 ? r : store_sync_put(b->store, labels, bytes.data, bytes.n, &why);
	} else if (r == 0) {
		r = store_sync_put_profile(b->store, profile, &why);
	}
	if (r != STORE_KEPT)
		die(buf_str(&why), r < 0 ? r : -EINVAL);
	pprof_bytes_fini(&bytes);
	profile_unref(profile);
	return cpu_ns() - begin_ns;
}

static void print_own(struct bench *b)
{
	uint64_t packed_ns = 0, put_ns = 0;

	for (unsigned int i = 0; i < N_OWN; i++) {
		packed_ns += put_own(b, 2 * i, true);
		put_ns += put_own(b, 2 * i + 1, false);
	}
	(void)printf("own_packed_us %.1f\n", (double)packed_ns / N_OWN / 1e3);
	(void)printf("own_put_us %.1f\n", (double)put_ns / N_OWN / 1e3);
	clock_ns += INTERVAL_S * NS_PER_S;
}

static void print_full(struct bench *b, double before_mib)
{
	struct store_stats stats;

	store_stats(b->store, &stats);
	(void)printf("full_hours %.2f\n", (double)(stats.newest_ms - stats.oldest_ms) / 3600e3);
	(void)printf("full_bytes_mib %.1f\n", (double)stats.bytes / (1 << 20));
	(void)printf("full_bytes_a_sample %.2f\n", (double)stats.bytes / (double)stats.n_samples);
	(void)printf("full_rss_mib %.1f\n", rss_mib());
	(void)printf("rss_before_mib %.1f\n", before_mib);
	double over_mib = rss_mib() - before_mib - (double)stats.max_bytes / (1 << 20);

	(void)printf("full_rss_over_bound_mib %.1f\n", over_mib > 0 ? over_mib : 0);
}

int main(void)
{
	const size_t max_bytes = STORE_OPTIONS_INIT.max_bytes;
	static struct bench b;
	struct store_stats stats = { 0 };

	start(&b, max_bytes);
	make_profiles(&b);
	double before_mib = rss_mib();

	for (int i = 0; i < HOUR_TICKS; i++)
		put_all(&b);
	print_hour(&b);
	print_own(&b);
	for (int i = 0; i < MAX_HOURS * HOUR_TICKS && stats.n_evicted_profiles == 0; i++) {
		put_all(&b);
		store_stats(b.store, &stats);
	}
	for (int i = 0; i < HOUR_TICKS / 4; i++)
		put_all(&b);
	print_full(&b, before_mib);
	stop(&b);
	return 0;
}

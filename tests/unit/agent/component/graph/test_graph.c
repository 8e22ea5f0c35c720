/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations of the real components: loads, runs, reloads. test_mistakes.c has what is said about wrong ones. */
#include "tests/support/unit.h"
#include "tests/unit/agent/component/real_graph.h"

#include <fcntl.h>
#include <stdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/process/process.h"
#include "agent/util/file.h"

static int run(struct fixture *f)
{
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	int r = graph_run(f->graph, &why);

	if (r < 0)
		print_message("%s\n", buf_str(&why));
	return r;
}

static void test_example(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, LOGGING EBPF WRITE);
	assert_int_equal(graph_n(f->graph), 3);
	/* Dependencies first, else the order of the file. */
	assert_string_equal(graph_component(f->graph, 0)->id, "logging");
	assert_string_equal(graph_component(f->graph, 1)->id, "pyroscope.write.endpoint");
	assert_string_equal(graph_component(f->graph, 2)->id, "pyroscope.ebpf.instance");
	assert_string_equal(graph_component(f->graph, 2)->label, "instance");
	assert_int_equal(graph_component(f->graph, 2)->health.state, HEALTH_UNKNOWN);
}

static void test_example_with_discovery(void **state)
{
	struct fixture *f = *state;

	assert_loads(f, LOGGING EBPF_DISCOVERED DISCOVERY WRITE);
	assert_int_equal(graph_n(f->graph), 4);
}

static void test_examples_run(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	assert_loads(f, LOGGING EBPF WRITE);
	/* A kernel without BTF, or a container without the capability. */
	if (run(f) < 0)
		skip();
	assert_string_equal(find(f, "pyroscope.ebpf.instance")->health.message, "profiling");
	/* One session goes on with other targets. */
	assert_loads(f, LOGGING EBPF_DISCOVERED DISCOVERY WRITE);
	assert_int_equal(run(f), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(loop_run_once(f->env.loop, 100), 0);
	/* Not for a moment were there no targets. */
	assert_string_equal(find(f, "pyroscope.ebpf.instance")->health.message, "profiling");
	assert_loads(f, EBPF WRITE);
	assert_int_equal(run(f), 0);
}

/* For want of descriptors; each reload tries again, and a scrape in between finds nothing of the last try. */
static void test_run_that_fails(void **state)
{
	struct fixture *f = *state;
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 20);
	struct rlimit limit, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 4;
	assert_loads(f, EBPF WRITE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; i < 3; i++) {
		assert_true(run(f) < 0);
		assert_int_equal(find(f, "pyroscope.ebpf.instance")->health.state, HEALTH_EXITED);
		assert_int_equal(find(f, "pyroscope.write.endpoint")->health.state, HEALTH_HEALTHY);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_loads(f, WRITE);
	assert_int_equal(telemetry_text(f->env.telemetry, &text), 0);
}

/* What discovery.process.all says of a process; the caller frees the arena. NULL: nothing. */
static const struct river_value *target_of(struct fixture *f, pid_t pid, struct river_arena *arena)
{
	const struct component *c = find(f, "discovery.process.all");
	const struct river_value *exports = NULL;
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", (int)pid);
	assert_int_equal(c->kind->exports((struct component *)c, arena, &exports), 0);
	const struct river_value *targets = river_value_find(exports, "targets");
	for (size_t i = 0; i < river_value_len(targets); i++) {
		const struct river_value *target = river_value_item(targets, i);

		if (strcmp(river_value_get_string(river_value_find(target, "__process_pid__"),
						  NULL),
			   text) == 0)
			return target;
	}
	return NULL;
}

static void assert_exe(struct fixture *f, pid_t pid, const char *name)
{
	struct river_arena arena;

	river_arena_init(&arena, (size_t)64 << 20);
	const struct river_value *target = target_of(f, pid, &arena);
	assert_non_null(target);
	const char *exe =
		river_value_get_string(river_value_find(target, "__meta_process_exe"), NULL);
	assert_non_null(strstr(exe, name));
	river_arena_fini(&arena);
}

/* Becomes another program when the descriptor that is returned is closed. */
static pid_t start_child(int *ret_gate)
{
	int gate[2];
	char byte;

	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(gate[1]);
		if (read(gate[0], &byte, 1) >= 0)
			(void)execl("/bin/sleep", "sleep", "60", NULL);
		_exit(1);
	}
	(void)close(gate[0]);
	*ret_gate = gate[1];
	return pid;
}

static void end_child(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static struct process_table *make_table(const struct fixture *f)
{
	struct process_table *t = NULL;

	assert_int_equal(
		process_table_new(&(struct process_table_options){ .telemetry = f->env.telemetry },
				  &t),
		0);
	return t;
}

static void test_discovery_runs(void **state)
{
	struct fixture *f = *state;
	struct process_table *sampled = make_table(f);
	struct process *self = process_table_get(sampled, (uint32_t)getpid(), NULL);

	assert_loads(f, DISCOVERY
		     "discovery.process \"joined\" {\n join = discovery.process.all.targets\n }\n");
	assert_int_equal(run(f), 0);
	assert_int_equal(find(f, "discovery.process.all")->health.state, HEALTH_HEALTHY);
	assert_int_equal(loop_run_once(f->env.loop, 0), 0);
	assert_exe(f, getpid(), "test_graph");
	assert_false(graph_process_seen(f->graph, sampled, self));
	graph_process_gone(f->graph, (uint32_t)getpid());
	/* Its sample says that it is there all the same. */
	assert_true(graph_process_seen(f->graph, sampled, self));
	process_table_free(sampled);
}

/* It ends before its first sample is read; who takes the samples has seen it begin. */
static void test_discovery_of_the_short_lived(void **state)
{
	struct fixture *f = *state;
	struct process_table *sampled = make_table(f);
	int gate = -1;

	assert_loads(f, DISCOVERY);
	assert_int_equal(run(f), 0);
	pid_t pid = start_child(&gate);
	struct process *p = process_table_get(sampled, (uint32_t)pid, NULL);
	(void)process_identity(sampled, p);
	end_child(pid);
	assert_true(graph_process_seen(f->graph, sampled, p));
	assert_exe(f, pid, "test_graph");
	graph_process_gone(f->graph, (uint32_t)pid);
	process_table_free(sampled);
	(void)close(gate);
}

/* Nobody tells discovery's own table of execs and exits: what it knows of a process may be of another program by now. */
static void test_discovery_looks_again(void **state)
{
	struct fixture *f = *state;
	char name[16] = "";
	int gate = -1;
	pid_t pid = start_child(&gate);

	assert_loads(f, DISCOVERY);
	assert_int_equal(run(f), 0);
	assert_exe(f, pid, "test_graph");
	assert_int_equal(close(gate), 0);
	while (!strstr(name, "sleep")) {
		_cleanup_buf_ struct buf comm = BUF_INIT(sizeof(name) - 1);
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
		assert_int_equal(file_read(AT_FDCWD, path, &comm), 0);
		memcpy(name, buf_str(&comm), comm.len + 1);
	}
	/* Another configuration makes it look at once. */
	assert_loads(f, "discovery.process \"all\" {\n discover_config { cwd = false }\n}\n");
	assert_exe(f, pid, "sleep");
	end_child(pid);
}

static void test_reload(void **state)
{
	struct fixture *f = *state;
	const void *write, *discovery;

	assert_loads(f, LOGGING DISCOVERY WRITE);
	assert_int_equal(run(f), 0);
	write = find(f, "pyroscope.write.endpoint")->state;
	discovery = find(f, "discovery.process.all")->state;
	assert_loads(f, "// nothing changed\n" WRITE DISCOVERY LOGGING);
	assert_ptr_equal(find(f, "pyroscope.write.endpoint")->state, write);
	assert_ptr_equal(find(f, "discovery.process.all")->state, discovery);
	assert_int_equal(load(f, WRITE "discovery.process \"all\" { nonsense = 1 }"),
			 RIVER_INVALID);
	assert_int_equal(graph_n(f->graph), 3);
	assert_ptr_equal(find(f, "discovery.process.all")->state, discovery);
	/* Changed, and one is gone. */
	assert_loads(f, "discovery.process \"all\" {\n refresh_interval = \"90s\"\n "
			"discover_config { cwd = false }\n}\n" WRITE);
	assert_int_equal(graph_n(f->graph), 2);
	assert_ptr_equal(find(f, "discovery.process.all")->state, discovery);
	assert_int_equal(run(f), 0);
	assert_int_equal(find(f, "discovery.process.all")->health.state, HEALTH_HEALTHY);
}

/* What is exported stays the same object, so nobody else is touched. */
static void test_reload_of_a_receiver(void **state)
{
	struct fixture *f = *state;
	const void *ebpf;

	assert_loads(f, EBPF WRITE);
	ebpf = find(f, "pyroscope.ebpf.instance")->state;
	assert_loads(f, EBPF
		     "pyroscope.write \"endpoint\" { endpoint { url = \"http://127.0.0.1:2\" } }");
	graph_settle(f->graph);
	assert_ptr_equal(find(f, "pyroscope.ebpf.instance")->state, ebpf);
	assert_loads(
		f, "pyroscope.write \"other\" { }\n"
		   "pyroscope.ebpf \"instance\" { forward_to = [pyroscope.write.other.receiver] }");
	graph_settle(f->graph);
	assert_ptr_equal(find(f, "pyroscope.ebpf.instance")->state, ebpf);
}

static void test_many_reloads(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 50; i++) {
		assert_loads(f, i % 2 ? EBPF WRITE : EBPF_DISCOVERED DISCOVERY WRITE);
		graph_settle(f->graph);
		assert_int_equal(load(f, i % 3 ? WRITE "x" : EBPF), RIVER_INVALID);
		assert_int_equal(loop_run_once(f->env.loop, 0), 0);
	}
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_example),
	FIXTURE_TEST(test_example_with_discovery),
	FIXTURE_TEST(test_examples_run),
	FIXTURE_TEST(test_run_that_fails),
	FIXTURE_TEST(test_discovery_runs),
	FIXTURE_TEST(test_discovery_of_the_short_lived),
	FIXTURE_TEST(test_discovery_looks_again),
	FIXTURE_TEST(test_reload),
	FIXTURE_TEST(test_reload_of_a_receiver),
	FIXTURE_TEST(test_many_reloads),
};

TEST_MAIN(tests)

/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.process over the real /proc: this test finds itself, and a child from exec to exit. */
#include "tests/support/unit.h"
#include "tests/unit/agent/target/make_labels.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/discovery/discovery_process.h"
#include "agent/target/target.h"

struct fixture {
	struct telemetry *telemetry;
	struct process_table *processes;
	struct discovery_process *d;
};

static void set_up(struct fixture *f)
{
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(
		process_table_new(&(struct process_table_options){ .telemetry = f->telemetry },
				  &f->processes),
		0);
	struct discover_config config = DISCOVER_CONFIG_DEFAULTS;
	config.uid = true;
	assert_int_equal(discovery_process_new(&config, f->processes, &f->d), 0);
}

static void tear_down(struct fixture *f)
{
	discovery_process_free(f->d);
	process_table_free(f->processes);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

/* A new reference to the target of a pid, or NULL. */
static struct labels *find_target(struct fixture *f, pid_t pid)
{
	struct labels **targets = NULL, *found = NULL;
	size_t n = 0;
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", pid);
	assert_int_equal(discovery_process_targets(f->d, &targets, &n), 0);
	for (size_t i = 0; i < n; i++) {
		const char *value = labels_get(targets[i], "__process_pid__");

		if (value && strcmp(value, text) == 0)
			found = labels_ref(targets[i]);
	}
	labels_array_free(targets, n);
	return found;
}

static void test_finds_itself(void **state)
{
	struct fixture *f = *state;
	char exe[4096] = "", cwd[4096] = "", uid[16];

	assert_int_equal(discovery_process_scan(f->d), DISCOVERY_CHANGED);
	_cleanup_(labels_unrefp) struct labels *l = find_target(f, getpid());
	assert_non_null(l);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	(void)snprintf(uid, sizeof(uid), "%u", getuid());
	assert_string_equal(labels_get(l, "__meta_process_exe"), exe);
	assert_string_equal(labels_get(l, "__meta_process_cwd"), cwd);
	assert_string_equal(labels_get(l, "__meta_process_uid"), uid);
	assert_non_null(strstr(labels_get(l, "__meta_process_commandline"), "test_proc_scan"));
	assert_non_null(labels_get(l, "__process_start_time_ns__"));
}

static int sampled(struct fixture *f, uint32_t pid)
{
	return discovery_process_on_sample(f->d, f->processes,
					   process_table_get(f->processes, pid, NULL));
}

static void test_selects_itself(void **state)
{
	struct fixture *f = *state;
	struct labels *target, *series = NULL;

	assert_int_equal(sampled(f, (uint32_t)getpid()), DISCOVERY_CHANGED);
	target = find_target(f, getpid());
	assert_non_null(target);
	_cleanup_(target_set_freep) struct target_set *s = NULL;
	assert_int_equal(target_set_new(&(struct target_set_options){ .targets = &target,
								      .n_targets = 1,
								      .have_targets = true,
								      .targets_only = true,
								      .telemetry = f->telemetry },
					&s),
			 0);
	labels_unref(target);
	struct process *self = process_table_get(f->processes, (uint32_t)getpid(), NULL);
	struct process *parent = process_table_get(f->processes, (uint32_t)getppid(), NULL);
	assert_int_equal(target_set_match(s, f->processes, self, &series), TARGET_FOUND);
	assert_non_null(labels_get(series, "service_name"));
	labels_unref(series);
	assert_int_equal(target_set_match(s, f->processes, parent, &series), TARGET_NONE);
}

/*
 * The child writes a byte from its new program, so that the exec is over when it is looked at, and
 * waits for input that never comes. *ret_fd is to be closed when it is gone.
 */
static pid_t start_child(int *ret_fd)
{
	int ends[2];
	char byte;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(ends[1], STDIN_FILENO);
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)execl("/bin/sh", "sh", "-c", "echo; read nothing", NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	*ret_fd = ends[0];
	return pid;
}

static void test_child(void **state)
{
	struct fixture *f = *state;
	struct process_event ev = { .kind = PROCESS_EVENT_EXIT };

	_cleanup_close_ int fd = -1;
	pid_t pid = start_child(&fd);
	assert_int_equal(sampled(f, (uint32_t)pid), DISCOVERY_CHANGED);
	_cleanup_(labels_unrefp) struct labels *l = find_target(f, pid);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_non_null(l);
	assert_string_equal(labels_get(l, "__meta_process_commandline"),
			    "sh -c echo; read nothing");

	ev.pid = (uint32_t)pid;
	ev.time_ns = UINT64_MAX / 2;
	process_table_apply(f->processes, &ev);
	discovery_process_told(f->d);
	discovery_process_on_exit(f->d, (uint32_t)pid);
	assert_null(find_target(f, pid));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_finds_itself),
	FIXTURE_TEST(test_selects_itself),
	FIXTURE_TEST(test_child),
};

TEST_MAIN(tests)

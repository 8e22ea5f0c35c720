/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop: one thread, level-triggered epoll, timers, signals.
 *
 * All state of the agent is owned by the thread that runs the loop; callbacks run to completion one at a time. A callback may add,
 * change and free any source, itself included: freed sources are only unlinked at once and released after the round, so that a
 * pending event of a source freed in the same round is never delivered. A callback may also run the loop itself (loop_run_once) to
 * wait for something; other callbacks then run inside it.
 */
#ifndef XAGENT_AGENT_UTIL_LOOP_H
#define XAGENT_AGENT_UTIL_LOOP_H

#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "agent/util/cleanup.h"

struct loop;
struct loop_io;
struct loop_timer;

/* Of CPU time. What a turn takes is what everybody else waits for. */
#define LOOP_LONG_TURN_NS (50ULL * 1000000)

struct loop_stats {
	uint64_t n_turns;
	uint64_t n_long; /* that took longer */
};

int loop_new(struct loop **ret_loop);
/* All sources must have been freed. NULL-safe. */
void loop_free(struct loop *loop);
DEFINE_CLEANUP(struct loop *, loop_free);

/* Runs until loop_quit(); returns the code given there, or -errno when epoll itself fails. */
int loop_run(struct loop *loop);
/* Dispatches what is due within timeout_ms (-1: waits for something). For tests and short-lived commands. */
int loop_run_once(struct loop *loop, int timeout_ms);
void loop_quit(struct loop *loop, int code);
struct loop_stats loop_get_stats(const struct loop *loop);

/* `fd` is borrowed and must stay open until the source is freed. events: EPOLLIN, EPOLLOUT. */
typedef void (*loop_io_fn)(uint32_t events, void *data);
int loop_io_new(struct loop *loop, int fd, uint32_t events, loop_io_fn fn, void *data,
		struct loop_io **ret_io);
int loop_io_set_events(struct loop_io *io, uint32_t events);
void loop_io_free(struct loop_io *io);
DEFINE_CLEANUP(struct loop_io *, loop_io_free);

/* A new timer is unarmed. It fires once for each arming; the callback may arm it again. */
typedef void (*loop_timer_fn)(void *data);
int loop_timer_new(struct loop *loop, loop_timer_fn fn, void *data, struct loop_timer **ret_timer);
/* At a CLOCK_MONOTONIC time; a time in the past fires in the next round. */
void loop_timer_arm(struct loop_timer *timer, uint64_t at_mono_ns);
void loop_timer_disarm(struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer);
DEFINE_CLEANUP(struct loop_timer *, loop_timer_free);

/* Blocks the signals of the set in this thread (call before threads are made) and delivers them here. */
typedef void (*loop_signal_fn)(int signo, void *data);
int loop_signals_new(struct loop *loop, const sigset_t *set, loop_signal_fn fn, void *data);

#endif

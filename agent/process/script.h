/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an interpreter runs: "app.py" of `python3 -u app.py --port 80`, for whom "python3.11" says nothing. A pure function over the
 * arguments.
 *
 *	python3 /srv/app.py			app.py
 *	python3 -m http.server			http.server	a module's name
 *	java -cp … org.example.Main		Main		a class without its package
 *	java -jar /opt/app.jar			app.jar
 *	python3 -c CODE, a shell, beam.smp	none		nothing that has a name
 *
 * Interpreters are known by their file (script_interpreters.c); scripts that are started by their #! line come as arguments, too.
 */
#ifndef XAGENT_AGENT_PROCESS_SCRIPT_H
#define XAGENT_AGENT_PROCESS_SCRIPT_H

#include <stdbool.h>

#include "agent/util/str.h"

/* NAME_MAX: what is longer is no file's name. */
#define SCRIPT_NAME_MAX 255

/* `exe`: path of the executable, may be empty. `arguments`: as /proc/PID/cmdline has them, each ended by a NUL; what stands behind the
 * last NUL was cut and is not looked at. The name is a piece of `arguments`; n is 0 when there is none. */
struct str script_find(struct str exe, struct str arguments);

/* Whether these are the arguments of a process that a library has started to do part of its program's work: one of Python's
 * multiprocessing, or of loky (joblib). What it works for is told by its parent. */
bool script_is_helper(struct str arguments);

#endif

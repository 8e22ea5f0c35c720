/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which systemd units are services, and what they are called.
 *
 * A unit stands for a service when its name is the same the next time it runs. Units that systemd
 * or a desktop makes for one login, one connection or one start carry a number in their name; a
 * series each would be a new series a day, so their processes are named by something else. Pure.
 */
#ifndef XAGENT_AGENT_TARGET_UNIT_NAME_H
#define XAGENT_AGENT_TARGET_UNIT_NAME_H

#include "agent/util/str.h"

/*
 * The name of the service, a piece of `unit` (borrowed); n is 0 when it is none:
 *
 *	nginx.service			nginx		without .service or .scope
 *	getty@tty1.service		getty@tty1	instances stay
 *	sshd@7-1.2.3.4:22-….service	sshd		but those of connections (Accept=yes)
 *	session-4.scope			none		a login
 *	user@0.service init.scope	none		the user's manager, the system's
 *	run-u4.scope run-r<id>.service	none		one start of systemd-run
 *	vte-spawn-….scope		none		one start of a terminal
 *	app-….scope app-…@….service	none		one start of a desktop's application
 *	dbus-:….service			none		likewise, by D-Bus
 *	32 hex digits in a row, a UUID	none		one container, one request, one start of a snap
 */
struct str unit_service_name(const char *unit);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which systemd units are services. */
#include "agent/target/unit_name.h"
#include "tests/support/unit.h"

#define ID "0123456789abcdef0123456789abcdef"

struct row {
	const char *unit;
	const char *expected; /* "" : no service */
};

static const struct row rows[] = {
	{ "nginx.service", "nginx" },
	{ "", "" },
	{ ".service", "" },
	{ "getty@tty1.service", "getty@tty1" },
	{ "postgresql@15-main.service", "postgresql@15-main" },
	{ "user-runtime-dir@1000.service", "user-runtime-dir@1000" },
	{ "systemd-journald.service", "systemd-journald" },
	{ "srv-data.mount", "srv-data.mount" },
	{ "machine-qemu-1-web.scope", "machine-qemu-1-web" },
	{ "session-4.scope", "" },
	{ "session-c2.scope", "" },
	{ "session-manager.service", "session-manager" },
	{ "user@1000.service", "" },
	{ "init.scope", "" },
	{ "init.service", "init" },
	{ "run-u12.scope", "" },
	{ "run-4711.scope", "" },
	{ "run-u12.service", "" },
	{ "run-p1234-i5678.service", "" },
	{ "run-r" ID ".service", "" },
	{ "run-parts.service", "run-parts" },
	{ "run-u.service", "run-u" },
	{ "run-rabbit.service", "run-rabbit" },
	{ "run-.service", "run-" },
	{ "vte-spawn-7f3a.scope", "" },
	{ "app-gnome-firefox-2345.scope", "" },
	{ "app-org.kde.konsole@51f2.service", "" },
	{ "app-server.service", "app-server" },
	{ "dbus-:1.2-org.gnome.Shell@0.service", "" },
	{ "dbus.service", "dbus" },
	{ "libpod-conmon-" ID ID ".scope", "" },
	{ "fwupd-" ID ".service", "" },
	{ "deadbeef.service", "deadbeef" },
	{ "snap.firefox.firefox-0123abcd-4567-89ef-0123-456789abcdef.scope", "" },
	{ "dead-beef-cafe.service", "dead-beef-cafe" },
	{ "sshd@7-10.0.0.1:22-10.0.0.2:50514.service", "sshd" },
	{ "ssh@0-[::1]:22-[::1]:4711.service", "ssh" },
	{ "systemd-coredump@3-1042-0.service", "systemd-coredump" },
	{ "backup@3-1042.service", "backup@3-1042" },
	{ "backup@3-daily-home.service", "backup@3-daily-home" },
	{ "@1-2-3.service", "@1-2-3" },
	{ "x@.service", "x@" },
};

static void test_unit(void **state)
{
	const struct row *row = *state;
	struct str name = unit_service_name(row->unit);

	assert_int_equal(name.n, strlen(row->expected));
	assert_memory_equal(name.p, row->expected, name.n);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_unit, rows, unit),
};

TEST_MAIN(tests)

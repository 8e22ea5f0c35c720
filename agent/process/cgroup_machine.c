/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines and Nomad tasks by their control groups.
 *
 *	LXC, LXD, Incus	lxc.payload.NAME, lxc.payload/NAME, lxc/NAME; lxc.monitor.NAME is the host's. Proxmox has "ns" below
 *	machined	machine-NAME.scope, escaped; systemd-nspawn@NAME.service; below them supervisor (the host's) and payload
 *	libvirt		the same with qemu-NUMBER-NAME or lxc-NUMBER-NAME; without systemd NAME.libvirt-qemu
 *	Proxmox		qemu.slice/NUMBER.scope
 *	Nomad		ALLOC.TASK.scope; below "nomad" also ALLOC.TASK, ALLOC-TASK, ALLOC
 */
#include <string.h>

#include "agent/process/cgroup_shape.h"
#include "agent/util/macro.h"

#define ALLOC_ID 36

static void set_runtime(struct cgroup_facts *f, const char *runtime)
{
	if (!f->container_id[0])
		str_copy_utf8(f->runtime, sizeof(f->runtime), str_from(runtime));
}

static enum machine_part set_machine(struct cgroup_facts *f, struct str name, const char *runtime,
				     enum machine_part part)
{
	shape_copy_unescaped(f->machine, sizeof(f->machine), name);
	set_runtime(f, runtime);
	return part;
}

static enum machine_part scan_lxc(struct str c, struct str parent, struct cgroup_facts *f)
{
	if (str_starts_with(c, STR_LIT("lxc.monitor")) || str_eq(c, STR_LIT("lxc.pivot")))
		return MACHINE_MONITOR;
	if (shape_cut_prefix(&c, STR_LIT("lxc.payload.")))
		return set_machine(f, c, "lxc", MACHINE_PAYLOAD);
	if (!str_eq(parent, STR_LIT("lxc")) && !str_eq(parent, STR_LIT("lxc.payload")))
		return MACHINE_NONE;
	if (shape_is_unit(c) || shape_is_slice(c))
		return MACHINE_NONE;
	return set_machine(f, c, "lxc", MACHINE_PAYLOAD);
}

/* LibvirtName = driver "-" number "-" name, as libvirt calls a machine to machined and in its paths. */
static bool cut_libvirt(struct str *name, struct str driver)
{
	struct str rest = *name, number;

	if (!shape_cut_prefix(&rest, driver) || !str_split(&rest, '-', &number) ||
	    !shape_is_digits(number) || rest.n == 0)
		return false;
	*name = rest;
	return true;
}

static enum machine_part set_machined(struct str name, struct cgroup_facts *f)
{
	if (cut_libvirt(&name, STR_LIT("qemu-")))
		return set_machine(f, name, "qemu", MACHINE_WHOLE);
	if (cut_libvirt(&name, STR_LIT("lxc-")))
		return set_machine(f, name, "lxc", MACHINE_PAYLOAD);
	return set_machine(f, name, "nspawn", MACHINE_PAYLOAD);
}

static enum machine_part scan_machined(struct str c, struct cgroup_facts *f)
{
	char plain[CGROUP_NAME_MAX];
	struct str name = c;

	if (shape_cut_suffix(&name, STR_LIT(".libvirt-qemu"))) {
		(void)cut_libvirt(&name, STR_LIT("qemu-"));
		return set_machine(f, name, "qemu", MACHINE_WHOLE);
	}
	if (shape_cut_suffix(&name, STR_LIT(".libvirt-lxc"))) {
		(void)cut_libvirt(&name, STR_LIT("lxc-"));
		return set_machine(f, name, "lxc", MACHINE_PAYLOAD);
	}
	if (!shape_cut_suffix(&name, STR_LIT(".scope")) ||
	    !shape_cut_prefix(&name, STR_LIT("machine-")))
		return MACHINE_NONE;
	shape_copy_unescaped(plain, sizeof(plain), name);
	return set_machined(str_from(plain), f);
}

static bool cut_nspawn_service(struct str *c)
{
	struct str name = *c;

	if (!shape_cut_prefix(&name, STR_LIT("systemd-nspawn@")) ||
	    !shape_cut_suffix(&name, STR_LIT(".service")))
		return false;
	*c = name;
	return true;
}

static bool is_machine_unit(struct str c)
{
	struct str name = c;

	return cut_nspawn_service(&name) ||
	       (str_starts_with(c, STR_LIT("machine-")) && str_ends_with(c, STR_LIT(".scope")));
}

/* The service is the host's until the path goes on into the machine. */
static enum machine_part scan_below_machined(struct str c, struct str parent,
					     struct cgroup_facts *f)
{
	if (!is_machine_unit(parent))
		return str_eq(c, STR_LIT("ns")) && f->machine[0] ? MACHINE_FRAME : MACHINE_NONE;
	if (str_eq(c, STR_LIT("supervisor"))) {
		f->machine[0] = '\0';
		set_runtime(f, "");
		return MACHINE_MONITOR;
	}
	bool payload = str_eq(c, STR_LIT("payload"));
	struct str name = parent;
	if (!cut_nspawn_service(&name))
		return payload ? MACHINE_FRAME : MACHINE_NONE;
	return set_machine(f, name, "nspawn", payload ? MACHINE_FRAME : MACHINE_INSIDE);
}

static bool is_nomad(struct str parent)
{
	return str_eq(parent, STR_LIT("nomad")) || str_eq(parent, STR_LIT("share")) ||
	       str_eq(parent, STR_LIT("reserve")) || str_eq(parent, STR_LIT("reserved"));
}

static enum machine_part scan_nomad(struct str c, struct str parent, struct cgroup_facts *f)
{
	struct str task = c, id = { c.p, MIN_OF(c.n, (size_t)ALLOC_ID) };
	bool scope = shape_cut_suffix(&task, STR_LIT(".scope"));

	if (!shape_is_uuid(id, '-') || (!scope && !is_nomad(parent)))
		return MACHINE_NONE;
	task = shape_from(task, ALLOC_ID);
	if (task.n > 0 && task.p[0] != '.' && (scope || task.p[0] != '-'))
		return MACHINE_NONE;
	if (task.n < 2 && (scope || task.n > 0))
		return MACHINE_NONE;
	str_copy_utf8(f->alloc_id, sizeof(f->alloc_id), id);
	f->task[0] = '\0';
	if (task.n > 0)
		shape_copy_unescaped(f->task, sizeof(f->task), shape_from(task, 1));
	set_runtime(f, "nomad");
	return MACHINE_WHOLE;
}

static enum machine_part scan_proxmox(struct str c, struct str parent, struct cgroup_facts *f)
{
	if (!str_eq(parent, STR_LIT("qemu.slice")) || !shape_cut_suffix(&c, STR_LIT(".scope")) ||
	    !shape_is_digits(c))
		return MACHINE_NONE;
	return set_machine(f, c, "qemu", MACHINE_WHOLE);
}

enum machine_part machine_scan(struct str c, struct str parent, struct cgroup_facts *f)
{
	enum machine_part part = scan_below_machined(c, parent, f);

	if (part == MACHINE_NONE)
		part = scan_lxc(c, parent, f);
	if (part == MACHINE_NONE)
		part = scan_machined(c, f);
	if (part == MACHINE_NONE)
		part = scan_proxmox(c, parent, f);
	if (part == MACHINE_NONE)
		part = scan_nomad(c, parent, f);
	return part;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One record of the perf side-band as bytes (layouts: include/uapi/linux/perf_event.h). */
#include "agent/process/sideband_decode.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* sample_id with SIDEBAND_SAMPLE_TYPE: ends each record. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct task_body { /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct mmap_body { /* PERF_RECORD_MMAP; then the path */
	uint32_t pid, tid;
	uint64_t begin, len, page_off;
};

struct mmap2_body { /* PERF_RECORD_MMAP2; then the path */
	struct mmap_body base;
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags;
};

struct comm_body { /* PERF_RECORD_COMM; then the name */
	uint32_t pid, tid;
};

struct lost_body { /* PERF_RECORD_LOST */
	uint64_t id, lost;
};

struct ksymbol_body { /* PERF_RECORD_KSYMBOL; then the name */
	uint64_t begin;
	uint32_t n_bytes;
	uint16_t type, flags;
};

_Static_assert(sizeof(struct trailer) == 16 && sizeof(struct task_body) == 24 &&
		       sizeof(struct mmap_body) == 32 && sizeof(struct mmap2_body) == 64 &&
		       sizeof(struct comm_body) == 8 && sizeof(struct lost_body) == 16 &&
		       sizeof(struct ksymbol_body) == 16,
	       "bodies are read as they lie in the ring");

/* The part of a record between header and trailer. */
struct body {
	const char *p;
	size_t n;
};

/* perf_event_pid() says 0 or -1 for tasks that our pid namespace does not see. */
static bool is_visible(uint32_t pid)
{
	return pid != 0 && pid != UINT32_MAX;
}

static bool take(struct body *b, void *ret_struct, size_t n)
{
	if (b->n < n)
		return false;
	memcpy(ret_struct, b->p, n);
	b->p += n;
	b->n -= n;
	return true;
}

/* A string padded with NULs to 8 bytes. */
static const char *terminated(const struct body *b)
{
	return b->n > 0 && memchr(b->p, '\0', b->n) ? b->p : NULL;
}

static enum sideband_outcome decode_task(struct body b, bool exit, struct process_event *ev,
					 uint32_t *ret_tid)
{
	struct task_body t;

	if (!take(&b, &t, sizeof(t)))
		return SIDEBAND_MALFORMED;
	if (!is_visible(t.pid))
		return SIDEBAND_SKIPPED;
	ev->kind = exit ? PROCESS_EVENT_EXIT : PROCESS_EVENT_FORK;
	ev->pid = t.pid;
	ev->parent_pid = is_visible(t.parent_pid) ? t.parent_pid : 0;
	*ret_tid = t.tid;
	if (exit)
		return SIDEBAND_THREAD_EXIT;
	return t.pid == t.parent_pid ? SIDEBAND_THREAD_START : SIDEBAND_EVENT;
}

static enum sideband_outcome decode_comm(struct body b, bool exec, struct process_event *ev)
{
	struct comm_body c;

	if (!take(&b, &c, sizeof(c)))
		return SIDEBAND_MALFORMED;
	const char *name = terminated(&b);
	if (!name)
		return SIDEBAND_MALFORMED;
	if (!exec || !is_visible(c.pid))
		return SIDEBAND_SKIPPED;
	ev->kind = PROCESS_EVENT_EXEC;
	ev->pid = c.pid;
	(void)strncpy(ev->comm, name, sizeof(ev->comm) - 1);
	return SIDEBAND_EVENT;
}

static enum sideband_outcome finish_mmap(struct body b, const struct mmap_body *m,
					 struct process_event *ev)
{
	ev->path = terminated(&b);
	if (!ev->path || m->len == 0 || m->begin + m->len < m->begin)
		return SIDEBAND_MALFORMED;
	ev->kind = PROCESS_EVENT_MMAP;
	ev->pid = m->pid;
	ev->begin = m->begin;
	ev->len = m->len;
	ev->file_off = m->page_off; /* in bytes: the kernel shifts it */
	return is_visible(m->pid) ? SIDEBAND_EVENT : SIDEBAND_SKIPPED;
}

static enum sideband_outcome decode_mmap(struct body b, uint16_t misc, struct process_event *ev)
{
	struct mmap_body m;

	if (!take(&b, &m, sizeof(m)))
		return SIDEBAND_MALFORMED;
	if (misc & PERF_RECORD_MISC_MMAP_DATA)
		return SIDEBAND_SKIPPED;
	return finish_mmap(b, &m, ev);
}

static enum sideband_outcome decode_mmap2(struct body b, uint16_t misc, struct process_event *ev)
{
	struct mmap2_body m;

	if (!take(&b, &m, sizeof(m)))
		return SIDEBAND_MALFORMED;
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return SIDEBAND_MALFORMED; /* never asked for: the fields would mean something else
					    */
	if (!(m.prot & PROT_EXEC))
		return SIDEBAND_SKIPPED;
	ev->dev_major = m.dev_major;
	ev->dev_minor = m.dev_minor;
	ev->inode = m.inode;
	ev->inode_generation = m.inode_generation;
	return finish_mmap(b, &m.base, ev);
}

static enum sideband_outcome decode_lost(struct body b, struct process_event *ev)
{
	struct lost_body l;

	if (!take(&b, &l, sizeof(l)))
		return SIDEBAND_MALFORMED;
	ev->kind = PROCESS_EVENT_LOST;
	ev->lost = l.lost;
	return SIDEBAND_EVENT;
}

static enum sideband_outcome decode_body(const struct perf_event_header *h, struct body b,
					 struct process_event *ev, uint32_t *ret_tid)
{
	switch (h->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_task(b, h->type == PERF_RECORD_EXIT, ev, ret_tid);
	case PERF_RECORD_COMM:
		return decode_comm(b, h->misc & PERF_RECORD_MISC_COMM_EXEC, ev);
	case PERF_RECORD_MMAP:
		return decode_mmap(b, h->misc, ev);
	case PERF_RECORD_MMAP2:
		return decode_mmap2(b, h->misc, ev);
	case PERF_RECORD_LOST:
		return decode_lost(b, ev);
	case PERF_RECORD_KSYMBOL:
		return SIDEBAND_KERNEL_TEXT;
	default:
		return SIDEBAND_SKIPPED;
	}
}

/* Takes header and trailer off. */
static bool open_record(const void *bytes, size_t n, struct perf_event_header *ret_header,
			struct body *ret_body, struct trailer *ret_trailer)
{
	struct body b = { bytes, n };

	if (!take(&b, ret_header, sizeof(*ret_header)) || ret_header->size != n ||
	    b.n < sizeof(*ret_trailer))
		return false;
	b.n -= sizeof(*ret_trailer);
	memcpy(ret_trailer, b.p + b.n, sizeof(*ret_trailer));
	*ret_body = b;
	return true;
}

enum sideband_outcome sideband_decode(const void *bytes, size_t n, struct process_event *ret_event,
				      uint32_t *ret_tid)
{
	struct process_event ev = { 0 };
	struct perf_event_header h;
	struct body b;
	struct trailer t;
	uint32_t tid = 0;

	if (!open_record(bytes, n, &h, &b, &t))
		return SIDEBAND_MALFORMED;
	enum sideband_outcome outcome = decode_body(&h, b, &ev, &tid);
	ev.time_ns = t.time_ns;
	if (outcome == SIDEBAND_MALFORMED || outcome == SIDEBAND_SKIPPED ||
	    outcome == SIDEBAND_KERNEL_TEXT)
		return outcome;
	*ret_event = ev;
	*ret_tid = tid;
	return outcome;
}

/* Of such a record the trailer lies behind the name: where several programs follow the side-band, the kernel makes the record of each next one
 * longer by another trailer, which it does not write (perf_event_ksymbol_output). */
static bool find_trailer(const struct body *name, struct trailer *trailer)
{
	size_t n_name = (strlen(name->p) + 1 + 7) & ~(size_t)7;

	if (n_name == name->n)
		return true; /* the record's last one */
	if (n_name > name->n || name->n - n_name < sizeof(*trailer))
		return false;
	memcpy(trailer, name->p + n_name, sizeof(*trailer));
	return true;
}

bool sideband_decode_kernel_text(const void *bytes, size_t n, struct kernel_text_change *ret_change,
				 const char **ret_name)
{
	struct perf_event_header h;
	struct ksymbol_body k;
	struct trailer t;
	struct body b;

	if (!open_record(bytes, n, &h, &b, &t) || h.type != PERF_RECORD_KSYMBOL ||
	    !take(&b, &k, sizeof(k)))
		return false;
	const char *name = terminated(&b);
	if (!name || !name[0] || k.begin > UINT64_MAX - k.n_bytes || !find_trailer(&b, &t))
		return false;
	*ret_change = (struct kernel_text_change){
		.time_ns = t.time_ns,
		.begin = k.begin,
		.n_bytes = k.n_bytes,
		.kind = k.type == PERF_RECORD_KSYMBOL_TYPE_OOL ? KERNEL_TEXT_OUT_OF_LINE
							       : KERNEL_TEXT_BPF,
		.is_gone = k.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER,
	};
	*ret_name = name;
	return true;
}

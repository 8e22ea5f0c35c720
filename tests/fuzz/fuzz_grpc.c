/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a client → a connection of a server of gRPC: it ends, every call is answered once, and nothing is left in the account of bodies. The
 * first byte says in how large pieces they come, the next whether the preface is put before them. */
#include <assert.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/http/grpc/grpc_link.h"
#include "agent/util/macro.h"

#define PATH "/a.S/Export"
#define MAX_BYTES 256
#define TURNS_MAX 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *refusal(const char *path, void *data)
{
	(void)data;
	return strcmp(path, PATH) == 0 ? NULL : "no";
}

static void on_call(struct grpc_call *call, void *data)
{
	const struct grpc_answer answers[] = { { .code = GRPC_OK },
					       { .code = GRPC_UNAVAILABLE, .message = "\xff%" } };
	struct buf message;

	(void)data;
	grpc_call_take_message(call, &message);
	assert(message.len <= MAX_BYTES);
	grpc_call_answer(call, &answers[message.len % 2]);
	buf_fini(&message);
}

static void send_pieces(struct loop *loop, int fd, const void *bytes, size_t n, size_t piece)
{
	const uint8_t *at = bytes;
	uint8_t room[4096];

	while (n > 0) {
		ssize_t sent = send(fd, at, MIN_OF(n, piece), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent <= 0)
			return;
		at += sent;
		n -= (size_t)sent;
		assert(loop_run_once(loop, 0) == 0);
		while (recv(fd, room, sizeof(room), MSG_DONTWAIT) > 0)
			;
	}
}

static void talk(struct loop *loop, struct grpc_server *server, const uint8_t *data, size_t size)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
	int ends[2], n_turns = 0;

	assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
	grpc_link_open(server, ends[0], NULL);
	if (data[1] & 1)
		send_pieces(loop, ends[1], preface, sizeof(preface) - 1, sizeof(preface));
	send_pieces(loop, ends[1], data + 2, size - 2, data[0] ? data[0] : 4096);
	(void)close(ends[1]);
	while (grpc_server_n_connections(server) > 0 && n_turns++ < TURNS_MAX)
		assert(loop_run_once(loop, 0) == 0);
	assert(grpc_server_n_connections(server) == 0);
	assert(server->bodies.used == 0 && list_empty(&server->calls));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct grpc_service service = { refusal, on_call, NULL };
	struct grpc_server_options o = GRPC_SERVER_OPTIONS_INIT;
	_cleanup_(loop_freep) struct loop *loop = NULL;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];
	struct grpc_server *server = NULL;

	if (size < 2)
		return 0;
	o.listen = "127.0.0.1:0";
	o.max_message_bytes = MAX_BYTES;
	assert(loop_new(&loop) == 0);
	assert(grpc_server_new(loop, &o, &service, &server, error) == HTTP_LISTENING);
	talk(loop, server, data, size);
	grpc_server_free(server);
	return 0;
}

# SPDX-License-Identifier: Apache-2.0
"""A unix socket in front of another one, which can go away and come back."""
import os
import socket
import threading


class UnixProxy:
    def __init__(self, path, behind):
        self.path, self.behind = str(path), str(behind)
        self.listener = None
        self.open = set()
        self.lock = threading.Lock()
        self.begin()

    def begin(self):
        """Be there."""
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(16)
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def cut(self):
        """Be gone, in the middle of whatever is said."""
        # A listener in accept() keeps its socket until somebody shuts it down.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)
        with self.lock:
            for side in self.open:
                side.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.behind)
            with self.lock:
                self.open |= {client, server}
            for here, there in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(here, there), daemon=True).start()

    def _copy(self, here, there):
        try:
            while data := here.recv(65536):
                there.sendall(data)
        except OSError:
            pass
        with self.lock:
            for side in (here, there):
                if side in self.open:
                    self.open.discard(side)
                    try:
                        side.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass

"""A free port of this machine, for a program that a script starts; run as a program, it prints one.

A connection of another process can take a port that the system chose before the program listens on it. The ports here
are below those that systems use for connections, and are not those of the tests in Swift (FreePort).
"""

import random
import socket

RANGE = range(21_000, 32_000)


def free_port() -> int:
    while True:
        port = random.choice(RANGE)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


if __name__ == "__main__":
    print(free_port())

"""Runs inside, before the command: listens on loopback, hands the listening sockets out, dials one port on request.

Only the standard library; started as `python3 -I -S -c <this file> FD PORTS DIAL COMMAND...` (sandbox.md, 7).
"""

import array
import os
import socket
import sys

DIAL_S = 5.0


def main(channel_fd: str, ports: str, dial_port: str, *argv: str) -> None:
    """Becomes the command; the channel stays with the dialler alone, so the command cannot speak on it."""
    channel = socket.socket(fileno=int(channel_fd))
    channel.set_inheritable(False)
    listeners = [socket.create_server(("127.0.0.1", int(port)), backlog=64) for port in filter(None, ports.split(","))]
    send(channel, listeners)
    if int(dial_port) and os.fork() == 0:
        if os.fork() == 0:
            dialler(channel, listeners, int(dial_port))
        os._exit(0)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.exit(127)


def send(channel: socket.socket, sockets: "list[socket.socket]") -> None:
    """One byte that counts the sockets, and the sockets."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [one.fileno() for one in sockets]))
    channel.sendmsg([bytes([len(sockets)])], [rights] if sockets else [])


def dialler(channel: socket.socket, listeners: "list[socket.socket]", port: int) -> None:
    """Answers each byte of the app with a connection to `port`, or with none, until the app closes its end."""
    for listener in listeners:
        listener.close()
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.setsid()
    while channel.recv(1):
        try:
            connected = [socket.create_connection(("127.0.0.1", port), timeout=DIAL_S)]
        except OSError:
            connected = []
        send(channel, connected)
        for one in connected:
            one.close()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])

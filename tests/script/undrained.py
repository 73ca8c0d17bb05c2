#!/usr/bin/env python3
"""undrained.py SOURCE AUTOMAP: the explorer in a terminal that nobody reads, sent SIGTERM and SIGHUP; and in a window of
5000 x 5000 that is read; and one that sends the beginning of a mouse report and nothing more."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

SOURCE, AUTOMAP = sys.argv[1:3]
LIMIT_S = 120  # it takes some 0.3 s; what waits for the terminal waits for ever


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read_for(fd, seconds):
    end, got = time.time() + seconds, b""
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                got += os.read(fd, 65536)
            except OSError:
                break
    return got


def start():
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", XDG_STATE_HOME=os.environ.get("TMPDIR", "/tmp"))
        os.execv(AUTOMAP, [AUTOMAP, f"{SOURCE}/examples/models/t5-tiny.hlo.txt.gz", f"{SOURCE}/examples/clusters/a-2x8-v100.yaml"])
    return pid, fd


def end_of(pid, fd, number, is_read, limit_s=LIMIT_S):
    """Seconds from the signal to the end, and the signal it ended by; None: it had to be killed."""
    os.kill(pid, number)
    start = time.time()
    while time.time() < start + limit_s:
        if is_read:
            read_for(fd, 0.05)
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return time.time() - start, os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def fill(number, keys):
    """Not read after the first screen, with frames of so many keys in the terminal's buffer: at some number it holds
    the last frame whole and has no room for what ends the session."""
    pid, fd = start()
    resize(fd, 30, 100)
    read_for(fd, 1)
    for _ in range(keys):
        os.write(fd, b"\t")
        time.sleep(0.02)
    time.sleep(0.1)
    got = end_of(pid, fd, number, False, 5)
    os.close(fd)
    if not got or got[1] != number:
        print(f"SIG{signal.Signals(number).name[3:]} after {keys} keys that were not drawn: "
              f"{'still there after 5 s' if not got else 'ended by %s' % got[1]}, expected an end by the signal")
    return not got or got[1] != number


def run(number, size, is_read, typed=b""):
    pid, fd = start()
    resize(fd, *size)
    first = read_for(fd, 2)
    for n in range(20):  # frames as wholes, until the terminal holds no more
        resize(fd, size[0] - n % 2, size[1] - n % 2)
        time.sleep(0.05)
        if is_read:
            read_for(fd, 0.05)
    os.write(fd, typed)
    time.sleep(0.3 if typed else 0)
    got = end_of(pid, fd, number, is_read)
    os.close(fd)
    what = f"SIG{signal.Signals(number).name[3:]} in {size[1]}x{size[0]}, {'read' if is_read else 'not read'}{', half a mouse report' if typed else ''}"
    if len(first) < 1000:
        print(f"{what}: no first screen ({len(first)} bytes)")
        return 1
    if not got or got[1] != number:
        print(f"{what}: {'still there after %d s' % LIMIT_S if not got else 'ended by %s' % got[1]}, expected an end by the signal")
        return 1
    print(f"{what}: ended after {got[0]:.2f} s")
    return 0


sys.exit(sum([run(signal.SIGTERM, (60, 200), False), run(signal.SIGHUP, (60, 200), False), run(signal.SIGTERM, (60, 200), True),
              run(signal.SIGTERM, (5000, 5000), True), run(signal.SIGTERM, (60, 200), True, b"\x1b[<0;1")] +
             [fill(signal.SIGHUP if n % 4 else signal.SIGTERM, n) for n in range(18, 40, 2)]) > 0)

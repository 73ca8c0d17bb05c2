#!/usr/bin/env python3
"""reading.py AUTOMAP [MODEL]: the explorer says within 0.2 s that it reads a large model, and then shows it.

Of the time on the clock that is left out which the explorer's thread stood ready and had no processor (schedstat): what
is measured is how long it takes where no other program runs."""
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import fcntl
import time

AUTOMAP = sys.argv[1]
SAID_S = 0.2
PATIENCE_S = 120
INSTRUCTIONS = 120000


def write_model(path):
    """A chain of products and sums, some 10 MB."""
    with open(path, "w") as out:
        out.write("HloModule large\n\nENTRY main {\n  p = f32[64,64]{1,0} parameter(0)\n  value.0 = f32[64,64]{1,0} negate(p)\n")
        for n in range(1, INSTRUCTIONS // 2):
            out.write(f"  dot.{n} = f32[64,64]{{1,0}} dot(value.{n - 1}, p), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
                      f"  value.{n} = f32[64,64]{{1,0}} add(dot.{n}, value.{n - 1})\n")
        out.write("}\n")


def waited(pid):
    """Seconds that the thread of the screen stood in the queue of a processor."""
    return int(open(f"/proc/{pid}/task/{pid}/schedstat").read().split()[1]) * 1e-9


def worked(pid):
    """Seconds of processor of all its threads."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(model):
    """Seconds until the screen says that it reads; on the clock and of processor until it shows the model. None: not seen."""
    start = time.time()
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execv(AUTOMAP, [AUTOMAP, model])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    text, said, shown = b"", None, None
    while time.time() < start + PATIENCE_S and shown is None:
        if select.select([fd], [], [], 0.02)[0]:
            try:
                text += os.read(fd, 65536)
            except OSError:
                break
        now = time.time() - start
        plain = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", text)
        if said is None and b"opening " in plain:
            said = max(0, now - waited(pid))
        if b"1 Graph" in plain:
            shown = now, worked(pid)
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
    os.close(fd)
    return said, shown


with tempfile.TemporaryDirectory() as folder:
    os.environ.update(XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)
    model = sys.argv[2] if len(sys.argv) > 2 else f"{folder}/large.hlo.txt"
    if len(sys.argv) < 3:
        write_model(model)
    said, shown = watch(model)
    size = os.path.getsize(model) / 1e6
if said is None or shown is None:
    sys.exit(f"{size:.0f} MB: {'never said that it is read' if said is None else 'never shown'}")
print(f"{size:.0f} MB: said to be read after {said:.2f} s, shown after {shown[0]:.2f} s on the clock, {shown[1]:.2f} of processor")
sys.exit(said > SAID_S and f"said to be read after {said:.2f} s, expected {SAID_S} at most")

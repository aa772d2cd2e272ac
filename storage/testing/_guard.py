"""Run a command that must not outlive the process that asked for it.

A server that a test starts must go away with the test, also when the test is killed and can clean up nothing. So the
server is the child of this small program, which holds the reading end of a pipe. One byte on the pipe is an order to
the child; the end of the pipe means that the parent is gone, however it went, and then the child is killed and its
folder removed. This needs nothing of the operating system but pipes.

Run as a script, by path, with the standard library only: it starts in milliseconds and knows nothing of the project.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence

STOP = b"s"
KILL = b"k"


def guard(command: Sequence[str], control: int, folder: str | None = None) -> int:
    """Run a command until it ends, or until the pipe does.

    Parameters
    ----------
    command
        The program and its arguments.
    control
        The file descriptor of the pipe's reading end. `STOP` asks the child to end, `KILL` makes it.
    folder
        Removed when the pipe ends before the child; kept when the child ends by itself or by an order.

    Returns
    -------
    The exit code of the child, negative after a signal.
    """
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - the caller's own command
    orphaned = threading.Event()
    threading.Thread(target=_obey, args=(child, control, orphaned), daemon=True).start()
    code = child.wait()
    if orphaned.is_set() and folder:
        shutil.rmtree(folder, ignore_errors=True)
    return code


def _obey(child: "subprocess.Popen[bytes]", control: int, orphaned: threading.Event) -> None:
    """Pass orders on to the child; kill it at the end of the pipe."""
    while order := os.read(control, 1):
        if order == STOP:
            child.terminate()
        elif order == KILL:
            child.kill()
    orphaned.set()
    child.kill()


if __name__ == "__main__":
    sys.exit(guard(sys.argv[2:], sys.stdin.fileno(), sys.argv[1] or None))

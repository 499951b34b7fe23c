"""The command `agentjournal` in a process of its own, without the second that loading it takes.

A process that has loaded everything waits for runs, and forks for each: what is forked has the
arguments, the environment and the output of its run, and ends like any other process. Run as a
program it is that process, and takes its listening socket as its standard input.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
_LOADED_TOO = ("log", "servers", "session", "run", "sync", "testing")  # loaded by commands late
_LOOKS_S = 5.0  # how often it is seen whether the tests are over
_SIZE = struct.Struct("!I")


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    timeout_s: float,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command with pipes for its output, in this folder or another.

    Raises TimeoutExpired, and then it is killed.
    """
    pipes = [os.pipe(), os.pipe()]
    with socket.socket(socket.AF_UNIX) as asked, ThreadPoolExecutor(2) as readers:
        asked.settimeout(timeout_s)
        asked.connect(_address())
        said = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "cwd": str(folder or Path.cwd()),
        }
        header = json.dumps(said).encode()
        socket.send_fds(asked, [_SIZE.pack(len(header))], [ours for _, ours in pipes])
        asked.sendall(header)
        for _, theirs in pipes:
            os.close(theirs)
        outputs = [readers.submit(_read, reading) for reading, _ in pipes]
        pid = _number(asked)
        try:
            status = _number(asked)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(arguments), timeout_s) from None
        output, errors = (each.result() for each in outputs)
    return subprocess.CompletedProcess(list(arguments), status, output, errors)


def _read(pipe: int) -> str:
    with open(pipe, encoding="utf-8", newline="") as end:
        return end.read()


def _number(source: socket.socket) -> int:
    return int(struct.unpack("!i", _exactly(source, 4))[0])


def _exactly(source: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        more = source.recv(size - len(read))
        if not more:
            raise EOFError("the process that forks is gone")
        read += more
    return read


@cache
def _address() -> str:
    """Start the process that forks; return where it listens. It ends with this one."""
    folder = tempfile.TemporaryDirectory(prefix="agentjournal-warm-")
    address = str(Path(folder.name) / "socket")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        program = subprocess.Popen(
            [sys.executable, __file__],
            stdin=listening.fileno(),
            stdout=subprocess.PIPE,
            cwd=CHECKOUT,
        )
    if program.stdout is None or not program.stdout.readline():  # a line, when all is loaded
        raise ChildProcessError("the process that forks does not start")

    def stop() -> None:
        program.terminate()
        program.communicate()
        folder.cleanup()

    atexit.register(stop)
    return address


def _serve() -> None:
    """Fork for every run; only what is forked for one returns, as the process to run it."""
    listening = socket.socket(fileno=os.dup(0))
    listening.settimeout(_LOOKS_S)
    parent = os.getppid()
    print("ready", flush=True)  # noqa: T201 - to who started it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        try:
            asked, _ = listening.accept()
        except TimeoutError:
            if os.getppid() != parent:  # it was killed
                sys.exit()
            continue
        if os.fork():
            asked.close()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listening.close()
        size, pipes, _, _ = socket.recv_fds(asked, _SIZE.size, 2)
        said: dict[str, Any] = json.loads(_exactly(asked, _SIZE.unpack(size)[0]))
        pid = os.fork()
        if pid == 0:
            asked.close()
            _become(said, pipes)
            return
        for pipe in pipes:
            os.close(pipe)
        asked.sendall(struct.pack("!i", pid))
        _, status = os.waitpid(pid, 0)
        asked.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status)))
        os._exit(0)


def _become(said: Mapping[str, Any], pipes: Sequence[int]) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    for to, pipe in enumerate((nothing, *pipes)):
        os.dup2(pipe, to)
        os.close(pipe)
    # Those that there are know of what was open when they were made.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
    sys.stderr = open(  # noqa: SIM115 - to the end
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    os.chdir(said["cwd"])
    os.environ.clear()
    os.environ.update(said["environment"])
    time.tzset()
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = ["agentjournal", *said["arguments"]]


def _load() -> None:
    from importlib import import_module  # noqa: PLC0415

    from commands.app import command_line  # noqa: PLC0415

    command_line()
    for name in _LOADED_TOO:
        import_module(f"agentjournal.{name}")
    gc.collect()
    gc.freeze()  # what is loaded stays, in all of them


if __name__ == "__main__":
    sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "schemas"), str(CHECKOUT / "server")]
    _load()
    _serve()
    from commands.app import main

    main()

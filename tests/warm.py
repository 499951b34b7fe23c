"""Programs of this project in processes of their own, without the seconds that loading one takes.

A process that has loaded everything waits for runs, and forks for each: what is forked has the
arguments, the environment and the output of its run, and ends like any other process. Run as a
program it is that process, and takes its listening socket as its standard input.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
COMMAND = "agentjournal"  # every other program is a file, or a module, as behind `python -m`
_LOADED = (
    *(f"agentjournal.{name}" for name in ("log", "servers", "session", "run", "sync", "testing")),
    *("consumers.roles", "consumers.running", "streams.faust_meter", "tests.promoted"),
)
_LOOKS_S = 5.0  # how often it is seen whether the tests are over
_SIZE = struct.Struct("!I")
OURS = 0, 1, 2  # streams of who starts it


class Forked:
    """A process that was forked to run a program."""

    def __init__(self, pid: int, ended: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended

    def poll(self) -> int | None:
        """Return its exit status, minus the number of the signal that ended it; None: it runs."""
        if self.returncode is None and select.select([self._ended], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout_s: float | None = None) -> int:
        """Return its exit status once it has ended. Raises TimeoutError."""
        if self.returncode is None:
            self._ended.settimeout(timeout_s)
            self.returncode = _number(self._ended)
            self._ended.close()
        return self.returncode

    async def ended(self) -> int:
        """Return its exit status once it has ended."""
        if self.poll() is None:
            loop, told = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(self._ended, told.set)
            try:
                await told.wait()
            finally:
                loop.remove_reader(self._ended)
        return self.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


def start(
    program: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: tuple[int, int, int] | None = None,
    folder: Path | None = None,
) -> Forked:
    """Start a program in this folder or another; `streams` are its input, output and errors.

    Without them it reads and says nothing.
    """
    said = {
        "program": program,
        "arguments": list(arguments),
        "environment": dict(environment),
        "cwd": str(folder or Path.cwd()),
    }
    header = json.dumps(said).encode()
    nothing = os.open(os.devnull, os.O_RDWR)
    asked = socket.socket(socket.AF_UNIX)
    try:
        asked.connect(_address())
        socket.send_fds(asked, [_SIZE.pack(len(header))], streams or (nothing,) * 3)
        asked.sendall(header)
        return Forked(_number(asked), asked)
    except BaseException:
        asked.close()
        raise
    finally:
        os.close(nothing)


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    timeout_s: float,
    folder: Path | None = None,
    *,
    program: str = COMMAND,
) -> subprocess.CompletedProcess[str]:
    """Run the command, or another program, with pipes for its output, in this folder or another.

    Raises TimeoutExpired, and then it is killed.
    """
    pipes = [os.pipe(), os.pipe()]
    nothing = os.open(os.devnull, os.O_RDONLY)
    with ThreadPoolExecutor(2) as readers:
        try:
            streams = nothing, pipes[0][1], pipes[1][1]
            running = start(program, arguments, environment, streams, folder)
        finally:
            for theirs in (nothing, pipes[0][1], pipes[1][1]):
                os.close(theirs)
        outputs = [readers.submit(_read, reading) for reading, _ in pipes]
        try:
            status = running.wait(timeout_s)
        except TimeoutError:
            running.send_signal(signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(arguments), timeout_s) from None
        output, errors = (each.result() for each in outputs)
    return subprocess.CompletedProcess(list(arguments), status, output, errors)


@asynccontextmanager
async def spoken_with(
    program: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Run a program, and yield what it writes and what it reads; it ends when that is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        streams = theirs.fileno(), theirs.fileno(), 2
        running = start(program, arguments, environment, streams)
    reader, writer = await asyncio.open_connection(sock=ours)
    try:
        yield reader, writer
    finally:
        writer.write_eof()
        await running.ended()
        writer.close()


def load() -> None:
    """Start the process that forks, if it is not there: it loads while others start too."""
    _address()


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
        listening.listen()  # who asks before all is loaded waits
        program = subprocess.Popen(
            [sys.executable, __file__], stdin=listening.fileno(), cwd=CHECKOUT
        )

    def stop() -> None:
        program.terminate()
        program.wait()
        folder.cleanup()

    atexit.register(stop)
    return address


def _serve() -> str:
    """Fork for every run; only what is forked for one returns, as the process to run it.

    Returns the program.
    """
    listening = socket.socket(fileno=os.dup(0))
    listening.settimeout(_LOOKS_S)
    parent = os.getppid()
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
        size, streams, _, _ = socket.recv_fds(asked, _SIZE.size, 3)
        said: dict[str, Any] = json.loads(_exactly(asked, _SIZE.unpack(size)[0]))
        pid = os.fork()
        if pid == 0:
            asked.close()
            _become(said, streams)
            return str(said["program"])
        for stream in streams:
            os.close(stream)
        asked.sendall(struct.pack("!i", pid))
        _, status = os.waitpid(pid, 0)
        asked.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status)))
        os._exit(0)


def _become(said: Mapping[str, Any], streams: Sequence[int]) -> None:
    for to, stream in enumerate(streams):
        os.dup2(stream, to)
        os.close(stream)
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
    sys.argv = [said["program"], *said["arguments"]]


def _load() -> None:
    from importlib import import_module  # noqa: PLC0415

    from agentjournal.windows.tokens import default_count  # noqa: PLC0415
    from commands.app import command_line  # noqa: PLC0415

    command_line()
    for name in _LOADED:
        import_module(name)
    default_count()("loaded once, for all")
    gc.collect()
    gc.freeze()  # what is loaded stays, in all of them


def _main() -> None:
    sys.path[:1] = [str(CHECKOUT), str(CHECKOUT / "schemas"), str(CHECKOUT / "server")]
    _load()
    program = _serve()
    if program == COMMAND:
        from commands.app import main  # noqa: PLC0415

        main()
        return
    from runpy import run_module, run_path  # noqa: PLC0415

    if program.endswith(".py"):
        run_path(program, run_name="__main__")
    else:
        run_module(program, run_name="__main__")


if __name__ == "__main__":
    _main()

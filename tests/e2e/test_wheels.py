"""The two wheels, built and installed beside a program that has packages of the same names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
APPLICATION = (
    *("streams", "projections", "consumers", "importers", "local", "commands", "in_memory"),
    "schemas",
)
PACKAGES_OF_THE_PROGRAM = ("schemas", "streams", "local")


@dataclass(frozen=True)
class Installed:
    """A virtual environment with both wheels in it."""

    bin: Path
    wheels: dict[str, Path]

    def run(self, *command: str, folder: Path) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("AGENTJOURNAL_")}
        environment.pop("PYTHONPATH", None)
        return subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheels")
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    no_network = ["--no-deps", "--no-index"]
    sources = [str(CHECKOUT), str(CHECKOUT / "server")]
    build = [*pip, "wheel", *no_network, "--no-build-isolation", "-w", str(folder), *sources]
    subprocess.run(build, check=True)
    wheels = {wheel.name.split("-")[0]: wheel for wheel in folder.glob("*.whl")}
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    install = [*pip, "--python", str(python), "install", *no_network, *map(str, wheels.values())]
    subprocess.run(install, check=True)
    # The dependencies are those of the environment that runs the tests: a line in a .pth file
    # adds its packages, but not what its own .pth files add, which is the checkout.
    dependencies = environment.joinpath(*site_packages(), "dependencies.pth")
    dependencies.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return Installed(environment / "bin", wheels)


def site_packages() -> tuple[str, ...]:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return ("lib", version, "site-packages")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with packages of its own, called as folders of ours are."""
    for package in PACKAGES_OF_THE_PROGRAM:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("OWNER = 'the program'\n")
    (tmp_path / "main.py").write_text(
        "import agentjournal\n"
        "import schemas, streams, local\n"
        "print(agentjournal.__name__, schemas.OWNER, streams.OWNER, local.OWNER, sep=', ')\n"
    )
    return tmp_path


def test_the_wheels_install_two_top_level_packages_and_nothing_else(installed: Installed) -> None:
    assert set(installed.wheels) == {"agentjournal", "agentjournal_server"}
    for name, wheel in installed.wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            top = {entry.split("/")[0] for entry in archive.namelist()}
        assert {each for each in top if not each.endswith(".dist-info")} == {name}


def test_the_bundle_has_every_file_of_the_application_that_is_not_made(
    installed: Installed,
) -> None:
    with zipfile.ZipFile(installed.wheels["agentjournal_server"]) as archive:
        bundled = {n.partition("/_app/")[2] for n in archive.namelist() if "/_app/" in n}
    expected = {
        str(file.relative_to(CHECKOUT))
        for package in APPLICATION
        if package != "schemas"
        for file in (CHECKOUT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert bundled == expected


def test_a_program_keeps_its_own_packages(installed: Installed, program: Path) -> None:
    ran = installed.run("python", "main.py", folder=program)
    assert ran.stderr == ""
    assert ran.stdout == "agentjournal, the program, the program, the program\n"


def test_no_folder_of_the_application_can_be_imported(installed: Installed, tmp_path: Path) -> None:
    look = f"from importlib.util import find_spec; print([*filter(find_spec, {APPLICATION!r})])"
    assert installed.run("python", "-c", look, folder=tmp_path).stdout == "[]\n"


def test_the_command_line_lists_its_commands_in_an_empty_folder(
    installed: Installed, tmp_path: Path
) -> None:
    for command in (("agentjournal",), ("python", "-m", "agentjournal_server")):
        shown = installed.run(*command, "--help", folder=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert {"up", "down", "status", "logs"} <= set(shown.stdout.split())


def test_the_command_line_runs_its_own_packages_in_the_folder_of_the_program(
    installed: Installed, program: Path
) -> None:
    for command in (("agentjournal",), ("python", "-m", "agentjournal_server")):
        down = installed.run(*command, "down", folder=program)
        assert (down.stdout, down.stderr, down.returncode) == ("no stack runs here\n", "", 0)


def test_a_role_is_started_from_the_bundle(installed: Installed, program: Path) -> None:
    code = """
import os, subprocess, sys, agentjournal_server
sys.path.insert(0, str(agentjournal_server.application_root()))
from local.roles import python_path, role_command
environment = {**os.environ, "PYTHONPATH": python_path()}
print(subprocess.run(role_command("unknown"), env=environment).returncode)
"""
    (program / "role.py").write_text(code)
    ran = installed.run("python", "role.py", folder=program)
    assert ran.stdout == "2\n"
    assert "usage: python -m consumers" in ran.stderr


TEST_OF_AN_AGENT = """
import asyncio
import streams
from agentjournal import MessageAdded

def test_of_a_program_that_has_packages_of_the_same_names(agentjournal_log):
    async def main():
        async with agentjournal_log as log:
            session = log.session("s")
            await session.append(MessageAdded(role="user", content="a"))
            await session.set_note("n", 1)
            assert await session.notes() == {"n": 1}
            return await session.load(), [info async for info in log.sessions()]

    state, [info] = asyncio.run(main())
    assert state.version == info.version == 3
    assert streams.OWNER == 'the program'
"""


def test_a_program_tests_its_agent_on_a_log_in_memory(installed: Installed, program: Path) -> None:
    (program / "test_agent.py").write_text(TEST_OF_AN_AGENT)
    page = (CHECKOUT / "docs" / "testing.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (program / "test_shown.py").write_text(shown)
    ran = installed.run("python", "-m", "pytest", "-q", folder=program)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout


def test_without_the_cores_a_log_in_memory_says_what_to_install(
    installed: Installed, tmp_path: Path
) -> None:
    code = (
        "import importlib.metadata, agentjournal.testing\n"
        "from agentjournal.testing import cores\n"
        "cores.entry_points = lambda **_: ()\n"
        "agentjournal.testing.memory_log()\n"
    )
    ran = installed.run("python", "-c", code, folder=tmp_path)
    assert ran.stderr.splitlines()[-1].endswith("`pip install agentjournal-server`")


def test_the_plugin_of_pytest_costs_nothing_until_it_is_asked_for(
    installed: Installed, tmp_path: Path
) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n"
        "def test_nothing():\n"
        "    loaded = {name for name in sys.modules if name.startswith('agentjournal')}\n"
        "    assert loaded == {'agentjournal', 'agentjournal.pytest_plugin'}\n"
    )
    ran = installed.run("python", "-m", "pytest", "-q", folder=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr

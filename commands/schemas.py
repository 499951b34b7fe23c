"""`schemas`: JSON Schemas of the events, and the AsyncAPI document of the topics.

`python -m commands.schemas` writes them to docs/schemas.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from agentjournal.events import BUILT_IN
from commands.asyncapi import asyncapi_document, event_path
from commands.errors import CommandFailed
from commands.event_schemas import event_schema, summary_of
from commands.printing import Column, print_json_array, print_line, print_rows, say
from commands.record_schemas import alert_schema, envelope_schema, request_header_schema
from commands.schema_changes import incompatible_changes
from commands.schema_kinds import Schema

SCHEMAS = Path(__file__).resolve().parents[1] / "docs" / "schemas"
ASYNCAPI = "asyncapi.yaml"

commands = typer.Typer()

_COLUMNS = (Column("name", short=True), Column("version", "right", short=True), Column("meaning"))
_AROUND = {
    "envelope": envelope_schema,
    "request-header": request_header_schema,
    "alert": alert_schema,
}


@commands.command()
def schemas(
    name: Annotated[
        str | None, typer.Argument(metavar="[TYPE]", help="An event type, or another name listed.")
    ] = None,
    *,
    version: Annotated[
        int | None, typer.Option("--version", min=1, help="Of the type (default: the newest).")
    ] = None,
    asyncapi: Annotated[
        bool, typer.Option("--asyncapi", help="Print the AsyncAPI document of the topics.")
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FOLDER", help="Write all of them to files there."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all of them as one JSON array.")
    ] = False,
) -> None:
    """Print the JSON Schema of an event type, or list what there are schemas of.

    `envelope` is what stands around every event. The AsyncAPI document refers to the files that
    --write makes.
    """
    if sum((name is not None, asyncapi, write is not None, as_json)) > 1:
        raise typer.BadParameter("TYPE, --asyncapi, --write and --json exclude each other")
    if version is not None and name is None:
        raise typer.BadParameter("--version goes with TYPE")
    if write is not None:
        try:
            say(f"{write_schemas(write)} files are in {write}")
        except OSError as error:
            raise CommandFailed(
                f"{error.filename or write} cannot be written: {error.strerror}"
            ) from None
    elif asyncapi:
        print_line(asyncapi_text().rstrip())
    elif as_json:
        print_json_array(every_schema().values())
    elif name is not None:
        print_line(schema_text(_named(name, version)).rstrip())
    else:
        print_rows(_COLUMNS, _listed())


def every_schema() -> dict[str, Schema]:
    """Return every schema by its path in the folder of schemas."""
    around = {f"{name}.json": schema() for name, schema in _AROUND.items()}
    return {**around, **{event_path(of): event_schema(of) for of in BUILT_IN.values()}}


def schema_text(schema: Schema) -> str:
    """Return a schema as its file holds it."""
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode() + "\n"


def asyncapi_text() -> str:
    """Return the AsyncAPI document as YAML."""
    import yaml  # noqa: PLC0415 - other commands need none

    class Plain(yaml.SafeDumper):
        """Writes a value that stands in two places twice, not as an anchor and an alias."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - its name there
            return True

    document = asyncapi_document()
    text: str = yaml.dump(document, Dumper=Plain, sort_keys=False, allow_unicode=True, width=100)
    return text


def write_schemas(folder: Path) -> int:
    """Write all files to `folder`; return how many.

    Raises CommandFailed before any is written, when a released one would change incompatibly.
    """
    made = every_schema()
    broken = broken_releases(folder, made)
    if broken:
        raise CommandFailed(
            "a released schema would change: make it a new version, with an upcaster\n"
            + "\n".join(broken)
        )
    for path, schema in made.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(schema_text(schema), encoding="utf-8")
    (folder / ASYNCAPI).write_text(asyncapi_text(), encoding="utf-8")
    return len(made) + 1


def broken_releases(folder: Path, made: dict[str, Schema]) -> list[str]:
    """Return where `made` differs from the released schemas in `folder` in more than it may."""
    found: list[str] = []
    for file in sorted(folder.rglob("*.json")):
        path = file.relative_to(folder).as_posix()
        if path in made:
            try:
                released = orjson.loads(file.read_bytes())
            except ValueError:
                found.append(f"{path}: is no JSON")
                continue
            changes = incompatible_changes(released, made[path])
            found += [f"{path}{change}" for change in changes]
        elif not _is_older(path):
            found.append(f"{path}: is gone")
    return found


def _is_older(path: str) -> bool:
    """Return whether a file is that of an older version of a type that there is."""
    folder, _, file = path.rpartition("/")
    model = BUILT_IN.get(folder.removeprefix("events/"))
    number = file.removesuffix(".json")
    return model is not None and number.isdecimal() and 0 < int(number) < model.schema_version


def _named(name: str, version: int | None) -> Schema:
    if name in _AROUND:
        if version is not None:
            raise CommandFailed(f"{name} has no versions")
        return _AROUND[name]()
    model = BUILT_IN.get(name)
    if model is None:
        raise CommandFailed(f"there is no schema of {name!r}; `agentjournal schemas` lists them")
    if version not in {None, model.schema_version}:
        raise CommandFailed(f"{name} is at version {model.schema_version} here, not at {version}")
    return event_schema(model)


def _listed() -> list[tuple[str, str, str]]:
    around = [(name, "-", schema()["title"]) for name, schema in _AROUND.items()]
    events = [
        (name, str(model.schema_version), summary_of(model)) for name, model in BUILT_IN.items()
    ]
    return around + events


def main() -> None:
    """Write docs/schemas."""
    write_schemas(SCHEMAS)


if __name__ == "__main__":
    main()

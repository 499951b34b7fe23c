"""What a projection is: a name, a generation, and a pure fold from recorded events to rows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, LiteralString, NamedTuple, Self, TypeAlias

from agentjournal.envelope import NO_HASH, Recorded
from agentjournal.errors import IntegrityError
from agentjournal.sql_statements import read_statements
from projections.rows import Changes, Table


class Context(NamedTuple):
    """What a projection knows of a stream when its next event comes."""

    version: int = 0
    hash: str = NO_HASH
    turn_id: str | None = None  # the turn that is open
    remaining: str = ""  # what there is to do that one event alone does not say, as JSON
    is_expired: bool = False  # the session


EMPTY = Context()

Fold: TypeAlias = Callable[[Recorded, Context, Changes], Context]


@dataclass(frozen=True, slots=True)
class Projection:
    """A read model.

    `fold` adds an event's changes and returns the stream's next context. `contexts` in `sql` loads
    contexts by stream; every table has a statement of its name there. Statements name the tables of
    the live generation, x_1 for the table x.
    """

    name: str
    tables: tuple[Table, ...]
    fold: Fold
    kinds: frozenset[str]  # of streams that it reads
    types: Mapping[str, int]  # event types that it reads, with the newest schema version it knows
    sql: Mapping[str, LiteralString]
    # False: only events of `types` are looked at, each on its own, so there are no contexts. That
    # the chain holds is then checked by the projection that reads all, in the same transaction.
    every_event: bool = True
    fenced: bool = False  # it also looks at what is written under a lease, whatever the type
    generation: int = 1  # whose checkpoints these are
    is_live: bool = True  # False: its tables stand beside those that readers see

    def reads(self, recorded: Recorded) -> bool:
        """Whether an event like this one makes a difference to it."""
        if self.every_event or recorded.type in self.types:
            return True
        return self.fenced and recorded.fence is not None

    @property
    def digest(self) -> str:
        """What this generation means: another digest under the same number must not run."""
        sql = {name: self._over(text, None) for name, text in self.sql.items()}
        parts = [*sorted(sql.items()), *sorted(self.types.items()), *["fenced"][: self.fenced]]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def table_name(self, table: Table) -> str:
        """Return the name that a table has in the database."""
        return table_name(table, None if self.is_live else self.generation)

    def live_as(self, generation: int) -> Self:
        """Return this projection with `generation` as the live one."""
        return replace(self, generation=generation)

    def beside_live(self, generation: int) -> Self:
        """Return this projection over the tables of a generation that is not live."""
        sql = {name: self._over(text, generation) for name, text in self.sql.items()}
        return replace(self, generation=generation, sql=sql, is_live=False)

    def _over(self, statement: LiteralString, generation: int | None) -> LiteralString:
        for table in self.tables:
            ours, others = self.table_name(table), table_name(table, generation)
            renamed: Any = re.sub(rf"\b{ours}\b", others, statement)
            statement = renamed  # still the text of our own file
        return statement


def table_name(table: Table, generation: int | None) -> str:
    """Return the name of a table of the live generation (None), or of another."""
    return f"{table.name}_1" if generation is None else f"{table.name}_1_g{generation}"


def read_sql(file: str) -> Mapping[str, LiteralString]:
    """Return the statements of a projection by name."""
    # By the name that it was imported under, which need not be `projections`.
    return read_statements(__name__.rpartition(".")[0], file)


class GapError(Exception):
    """Events of a stream are missing before this one: the stream is parked until they are found."""


def check_chain(recorded: Recorded, context: Context) -> None:
    """Check that an event goes on where its stream ended.

    Raises IntegrityError when the log forks here, GapError when events are missing.
    """
    if recorded.version > context.version + 1:
        raise GapError(
            f"version {recorded.version} came after {context.version}: events are missing between"
        )
    if recorded.version <= context.version or recorded.prevhash != context.hash:
        raise IntegrityError(
            f"{recorded.stream} version {recorded.version} (partition {recorded.partition}, "
            f"position {recorded.position}) is not the one that follows version {context.version}: "
            "the log forks here"
        )

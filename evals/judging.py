"""What is measured: promotion and every plain method, on labelled sessions and on others' data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import quantiles
from typing import TypeAlias

from evals import answering, baselines, data
from evals.answering import Answers
from evals.compacting import compaction
from evals.intervals import Share
from evals.labelled import Case
from evals.matching import Learned
from evals.measures import Counts, added, counts
from evals.models import Vectors
from evals.postgres_ranking import ts_rank
from evals.promoting import Extractor, Promoted, invariant
from evals.recalling import recallings
from evals.searching import Embed

Keep: TypeAlias = Callable[[Case], Sequence[Learned]]
LABELLED = ("user_id", "last_action")  # all that the labels of the airline's sessions speak of


@dataclass(frozen=True, slots=True)
class Table:
    """What a set of cases gives: shares by measure, for promotion and for other methods."""

    cases: int
    sessions: int
    shares: Mapping[str, Share]
    by_case: Sequence[Counts]
    others: Mapping[str, Mapping[str, Share]] = field(
        default_factory=dict[str, Mapping[str, Share]]
    )
    domains: Mapping[str, Mapping[str, Share]] = field(
        default_factory=dict[str, Mapping[str, Share]]
    )

    def of_cases(self, measure: str) -> list[Share]:
        """Return a measure's share of every case, for the bootstrap."""
        return [each[measure] for each in self.by_case if measure in each]


@dataclass(frozen=True, slots=True)
class Cost:
    """What promotion of a session takes. Times in milliseconds."""

    sessions: int
    p50_ms: float
    p95_ms: float
    statements: float  # a session
    model_calls: int = 0
    embeds_a_second: float | None = None  # None: there is no model


def sessions(
    cases: Sequence[Case], extractor: Extractor, embed: Embed | None
) -> tuple[Table, Cost]:
    """Return what promotion and the plain methods make of labelled sessions, and what it takes."""
    promoted = [extractor.promote(case) for case in cases]
    pairs = list(zip(cases, promoted, strict=True))
    rows = [
        {
            **counts(case, each.learned),
            **compaction(extractor, case),
            **_invariance(extractor, case),
        }
        for case, each in pairs
    ]
    domains = sorted({case.domain for case in cases})
    table = Table(
        cases=len(cases),
        sessions=sum(len(case.sessions) for case in cases),
        shares=added(rows),
        by_case=rows,
        others={name: _by(cases, keep) for name, keep in _kept_by(extractor, embed).items()},
        domains={
            domain: added(
                row for row, case in zip(rows, cases, strict=True) if case.domain == domain
            )
            for domain in domains
        },
    )
    return table, cost(promoted)


def foreign(name: str, extractor: Extractor) -> tuple[Table, list[str]]:
    """Return what promotion makes of sessions that others labelled, and labels that are wrong.

    Facts under attributes that these labels do not speak of are left out: nobody said whether they
    are right. Raises Absent.
    """
    given = data.labelled(name)
    rows = [counts(case, _spoken_of(case, extractor.promote(case).learned)) for case in given.cases]
    held = sum(len(case.sessions) for case in given.cases)
    return Table(len(given.cases), held, added(rows), rows), given.wrong


def answers(
    extractor: Extractor, vectors: Vectors | None, address: str | None
) -> dict[str, Answers]:
    """Return what each method finds of the answers, in Postgres where there is one; raises Absent.

    Without an `address` recall is asked in memory, by words alone.
    """
    corpus = data.corpus()
    with ExitStack() as stack:
        ours = stack.enter_context(recallings(corpus, vectors, address))
        score = None if address is None else stack.enter_context(ts_rank(address))
        every = answering.methods(corpus, extractor, vectors, score, ours)
        return {name: answering.answers(each, corpus.questions) for name, each in every.items()}


def cost(promoted: Iterable[Promoted]) -> Cost:
    """Return what promotion took, over sessions."""
    every = list(promoted)
    seconds = sorted(each for one in every for each in one.seconds)
    statements = [each for one in every for each in one.statements]
    cuts = quantiles(seconds, n=100) if len(seconds) > 1 else seconds * 99
    mean = sum(statements) / max(1, len(statements))
    return Cost(len(seconds), 1_000 * cuts[49], 1_000 * cuts[94], mean)


def _invariance(extractor: Extractor, case: Case) -> Counts:
    differing = invariant(extractor, [case])
    return {"invariance": Share(len(differing) - sum(differing.values()), len(differing))}


def _kept_by(extractor: Extractor, embed: Embed | None) -> dict[str, Keep]:
    methods: dict[str, Keep] = {
        "nothing": baselines.nothing,
        "everything": baselines.everything,
        "append-only": lambda case: baselines.append_only(extractor, case),
    }
    if embed is not None:
        methods["alike ≥ .90"] = lambda case: baselines.alike(extractor, case, embed)
    methods["labels"] = baselines.ceiling
    return methods


def _by(cases: Sequence[Case], keep: Keep) -> Mapping[str, Share]:
    return added(counts(case, keep(case)) for case in cases)


def _spoken_of(case: Case, learned: Sequence[Learned]) -> list[Learned]:
    names = {fact.attribute.rpartition("/")[2] for fact in case.facts} | set(LABELLED)
    return [fact for fact in learned if fact.attribute.rpartition("/")[2] in names]

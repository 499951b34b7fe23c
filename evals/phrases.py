"""`python -m evals.phrases [BANK…]`: what is learned of single phrases, and what of them is missed.

A bank is a file of phrases, one a line: what a user says, what was asked before, and the facts
that it tells. Odd lines may be read by whoever writes rules, and are shown; of even ones only
totals are.
`evals/sessions/README.md` has the form.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from rich.console import Console
from rich.table import Table

from agentjournal.memory.candidates import Candidate
from evals.holding import held
from evals.intervals import Share
from evals.labelled import BadLabels, Entity, Gold, Happened, LabelledSession
from evals.matching import Learned, matched, same_slot, same_value
from evals.normal import normal
from evals.promoting import Extractor

Half: TypeAlias = Literal["odd", "even"]
_Match: TypeAlias = Callable[[Sequence[Gold], Sequence[Learned]], dict[int, int]]

FOLDER = Path(__file__).with_name("phrases")
ENTITIES = (Entity("user", "u-1"), Entity("account", "a-1"), Entity("project", "p-1"))
AT = "2026-03-02T10:00:{:02}Z"
_SAID = 3  # the second at which a phrase is said


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a user says once, and the facts of it that a careful reader would keep."""

    bank: str
    line: int  # from 1
    voice: str
    asked: str | None
    text: str
    facts: tuple[Gold, ...]

    @property
    def half(self) -> Half:
        """Whether it is shown to whoever writes rules (`odd`), or held out (`even`)."""
        return "odd" if self.line % 2 else "even"


class Result(NamedTuple):
    """What an extractor makes of a phrase."""

    phrase: Phrase
    recall: Share
    precision: Share
    missed: list[Gold]
    wrong: list[Learned]


def banks() -> list[str]:
    """Return the names of the banks that are there."""
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def phrases(bank: str) -> Iterator[Phrase]:
    """Yield the phrases of a bank. Raises BadLabels, which names the line."""
    lines = (FOLDER / f"{bank}.jsonl").read_bytes().splitlines()
    for number, line in enumerate(lines, 1):
        place = f"line {number}"
        try:
            given = orjson.loads(line)
            facts = tuple(_gold(each) for each in given["facts"])
            read = Phrase(bank, number, given["voice"], given.get("asked"), given["text"], facts)
        except (KeyError, TypeError, ValueError) as error:
            raise BadLabels(bank, place, f"{type(error).__name__}: {error}") from error
        for fact in facts:
            if fact.quote not in read.text:
                raise BadLabels(bank, place, f"nobody says {fact.quote!r}")
        yield read


def _gold(given: dict[str, Any]) -> Gold:
    ids: dict[str, str] = dict(ENTITIES)
    return Gold(
        entity=f"{given['entity']}:{ids[given['entity']]}",
        kind="",
        attribute=given["attribute"],
        value=given.get("value"),
        op=given.get("op", "add"),
        valid_from=AT.format(2),
        evidence=(f"phrase:{_SAID}",),
        quote=given["said"],
        accept=tuple(given.get("accept", ())),
        optional=given.get("optional", False),
    )


def result(extractor: Extractor, phrase: Phrase) -> Result:
    """Return what the extractor makes of a phrase, as of a session of its own."""
    candidates = extractor.read(_session(phrase))[0].candidates
    told = _compared(
        [fact for fact in phrase.facts if fact.op != "retract"], held(candidates), matched
    )
    withdrawn = _compared(
        [fact for fact in phrase.facts if fact.op == "retract"],
        _all_withdrawn(phrase, candidates),
        _matched_withdrawn,
    )
    return Result(
        phrase,
        told.recall.plus(withdrawn.recall),
        told.precision.plus(withdrawn.precision),
        told.missed + withdrawn.missed,
        told.wrong + withdrawn.wrong,
    )


class _Compared(NamedTuple):
    recall: Share
    precision: Share
    missed: list[Gold]
    wrong: list[Learned]


def _compared(golds: Sequence[Gold], learned: Sequence[Learned], match: _Match) -> _Compared:
    golds = sorted(golds, key=lambda gold: gold.optional)  # what must be found comes first
    pairs = match(golds, learned)
    spare = {index for number, index in pairs.items() if golds[number].optional}
    hits = set(pairs.values()) - spare
    needed = [number for number, gold in enumerate(golds) if not gold.optional]
    counted = [index for index in range(len(learned)) if index not in spare]
    return _Compared(
        Share(len(hits), len(needed)),
        Share(len(hits), len(counted)),
        [golds[number] for number in needed if number not in pairs],
        [learned[index] for index in counted if index not in hits],
    )


def _all_withdrawn(phrase: Phrase, candidates: Iterable[Candidate]) -> list[Learned]:
    """Return what is taken back: of several entities once, of the one that is labelled."""
    labelled = {(gold.entity, gold.attribute) for gold in phrase.facts}
    found: dict[tuple[str, str], Learned] = {}
    for each in map(_withdrawn, (each for each in candidates if each.retracts)):
        key = each.attribute, normal(each.value)
        if key not in found or (each.entity, each.attribute) in labelled:
            found[key] = each
    return list(found.values())


def _withdrawn(candidate: Candidate) -> Learned:
    """Return what is no longer to be believed; a value of None means every value."""
    return Learned(
        entity=f"{candidate.entity.kind}:{candidate.entity.id}",
        kind=candidate.kind,
        attribute=candidate.attribute,
        value=candidate.value,
        quote=candidate.quote,
        evidence=(candidate.statement.event_id,),
        valid_from=candidate.valid_from,
        hidden=True,
    )


def _matched_withdrawn(golds: Sequence[Gold], learned: Sequence[Learned]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    for number, gold in enumerate(golds):
        for index, each in enumerate(learned):
            is_meant = None in (gold.value, each.value) or same_value(gold, each.value)
            if index not in pairs.values() and same_slot(gold, each) and is_meant:
                pairs[number] = index
                break
    return pairs


def _session(phrase: Phrase) -> LabelledSession:
    said = [("assistant", phrase.asked)] if phrase.asked else []
    events = [
        Happened(
            f"phrase:{number}",
            AT.format(number),
            "message.added",
            {
                "message_id": f"m{number}",
                "role": role,
                "parts": [{"type": "text", "text": text}],
                "status": "complete",
            },
        )
        for number, (role, text) in enumerate([*said, ("user", phrase.text)], _SAID - len(said))
    ]
    name = f"{phrase.bank}-{phrase.line}"
    return LabelledSession(name, ENTITIES, tuple(events), phrase.facts, frozenset(), ())


def _shown(result: Result, console: Console) -> None:
    said = f"[{result.phrase.asked}] " if result.phrase.asked else ""
    console.print(f"{result.phrase.bank}:{result.phrase.line} {said}{result.phrase.text}")
    for gold in result.missed:
        console.print(f"   missed {gold.op} {gold.attribute} = {gold.value!r} in {gold.quote!r}")
    for each in result.wrong:
        what = "withdraws" if each.hidden else "learns"
        console.print(f"   wrong  {what} {each.attribute} = {each.value!r} of {each.quote!r}")


def totals(results: Iterable[Result]) -> dict[tuple[str, Half], tuple[Share, Share]]:
    """Return recall and precision by bank and half."""
    found: dict[tuple[str, Half], tuple[Share, Share]] = {}
    for each in results:
        key = each.phrase.bank, each.phrase.half
        recall, precision = found.get(key, (Share(0, 0), Share(0, 0)))
        found[key] = recall.plus(each.recall), precision.plus(each.precision)
    return found


def main() -> None:
    """Print what is missed and wrong of the odd lines, and the totals of both halves."""
    parser = argparse.ArgumentParser(prog="evals.phrases", description=__doc__)
    parser.add_argument("banks", nargs="*", metavar="BANK", help="all of them without one")
    parser.add_argument("--totals", action="store_true", help="print totals alone")
    chosen = parser.parse_args()
    console = Console(highlight=False, markup=False, soft_wrap=True)
    extractor = Extractor()
    results = [
        result(extractor, phrase) for bank in chosen.banks or banks() for phrase in phrases(bank)
    ]
    for each in results:
        if each.phrase.half == "odd" and (each.missed or each.wrong) and not chosen.totals:
            _shown(each, console)
    table = Table("bank", "lines", "recall", "", "precision", "")
    for (bank, half), shares in sorted(totals(results).items()):
        cells = [
            text for share in shares for text in (_share(share), f"{share.hits}/{share.total}")
        ]
        table.add_row(bank, half, *cells)
    console.print(table)


def _share(share: Share) -> str:
    return "-" if share.value is None else f"{share.value:.3f}"


if __name__ == "__main__":
    main()

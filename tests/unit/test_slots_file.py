"""A file of slots of one's own: what is wrong with it is named by its place."""

from __future__ import annotations

from pathlib import Path

import pytest

import agentjournal as aj
from agentjournal.errors import NotConfigured
from agentjournal.memory.extractors import RuleExtracting
from agentjournal.memory.slots import default_slots, read_slots
from agentjournal.servers import servers_of
from agentjournal.settings import Settings
from agentjournal.testing import memory_log


def written(folder: Path, text: str) -> str:
    file = folder / "slots.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[user", "slots.toml cannot be read"),
        ("[robot.name]\nkind = 'profile'", "slots.toml: robot is not a table of an entity kind"),
        ("user = 3", "slots.toml: user is not a table of an entity kind"),
        ("[user]\nshoe = 3", "slots.toml: user.shoe is not a table"),
        ("[user.shoe]\ntype = 'text'", r"user.shoe.kind: None is not one of"),
        ("[user.shoe]\nkind = 'colour'", r"user.shoe.kind: 'colour' is not one of"),
        ("[user.shoe]\nkind = 'profile'\ntype = ['text']", r"user.shoe.type: \['text'\] is not"),
        ("[user.shoe]\nkind = 'profile'\ncardinality = 2", r"user.shoe.cardinality: 2 is not"),
        ("[user.shoe]\nkind = 'profile'\nsize = 'big'", "user.shoe.size: is not one of"),
        ("[user.shoe]\nkind = 'profile'\nnames = 'shoe'", "user.shoe.names: is not a list"),
        ("[user.shoe]\nkind = 'profile'\nnames = ['']", "user.shoe.names: is not a list"),
        ("[user.shoe]\nkind = 'profile'\nform = 3", "user.shoe.form: is not a word"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(NotConfigured, match=place):
        read_slots(written(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match=r"none\.toml cannot be read"):
        read_slots(str(tmp_path / "none.toml"))


async def test_a_form_that_no_rule_knows_is_told_when_a_session_is_read(tmp_path: Path) -> None:
    text = "[user.shoe]\nkind = 'profile'\nform = 'boot'\nnames = ['shoe']"
    extracting = RuleExtracting(read_slots(written(tmp_path, text)))
    async with memory_log() as log:
        session = log.session("s", user="u")
        await session.append(aj.MessageAdded(role="user", content="Hello."))
        with pytest.raises(NotConfigured, match=r"shoe: form 'boot' is not one of .*shoe"):
            await session.promote(extracting=extracting)


async def test_a_name_is_what_it_is_whatever_signs_are_in_it(tmp_path: Path) -> None:
    text = "[user.cpp_level]\nkind = 'profile'\ntype = 'number'\nnames = ['C++ (v2) level']"
    slots = read_slots(written(tmp_path, text))
    assert len(list(slots)) == len(list(default_slots())) + 1
    async with memory_log() as log:
        session = log.session("s", user="u")
        await session.append(aj.MessageAdded(role="user", content="My C++ (v2) level is 7."))
        made = await session.promote(extracting=RuleExtracting(slots))
    assert [(fact.attribute, fact.value) for _, fact in made.learned] == [("cpp_level", 7)]


def test_a_file_is_read_once_by_the_sessions_of_a_log(tmp_path: Path) -> None:
    slots = written(tmp_path, "[user.boot]\nkind = 'profile'\nnames = ['boot']")
    extracting = servers_of(Settings("none:1", "", "redis://none", slots=slots)).extracting
    assert extracting is not None
    first = extracting()
    assert isinstance(first, RuleExtracting)
    assert first.slots.find("user", "boot") is not None
    assert extracting() is first

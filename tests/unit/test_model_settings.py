"""Which model is asked is said by settings, and by the version of the extractor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentjournal.errors import NotConfigured
from agentjournal.memory.extracting import EXTRACTOR
from agentjournal.memory.extractors import RuleExtracting, extracting_of
from agentjournal.memory.fact_events import version_order
from agentjournal.memory.model_extracting import ModelExtracting
from agentjournal.memory.model_settings import ModelSettings, model_settings
from agentjournal.servers import servers_of
from agentjournal.settings import Settings


def test_the_extractor_says_that_a_model_took_part_and_which_and_takes_the_rules_place() -> None:
    def version(**changed: Any) -> str:
        named: dict[str, Any] = {"name": "m-9", "url": "http://h/v1", **changed}
        made = ModelExtracting(ModelSettings(**named))
        assert made.extractor.name == EXTRACTOR.name
        return made.extractor.version

    assert version() == f"{EXTRACTOR.version}+1.1.m-9"
    order = [EXTRACTOR.version, version(), version(revision=2, name="a"), version(revision=10)]
    assert order == sorted(order, key=version_order)
    assert version_order(version(revision=99)) < version_order(f"{int(EXTRACTOR.version) + 1}")


def test_settings_name_a_model_or_none_and_say_what_is_wrong() -> None:
    assert model_settings({}) is None
    found = model_settings(
        {
            "AGENTJOURNAL_MODEL": "m",
            "AGENTJOURNAL_MODEL_URL": "https://h/v1",
            "AGENTJOURNAL_MODEL_KEY": "secret",
            "AGENTJOURNAL_MODEL_REVISION": "3",
            "AGENTJOURNAL_MODEL_TIMEOUT_S": "1.5",
            "AGENTJOURNAL_MODEL_SESSION_TOKENS": "9",
            "AGENTJOURNAL_MODEL_PARAMETERS": '{"top_p": 1}',
        }
    )
    expected = ModelSettings(
        "m", "https://h/v1", "secret", 3, 1.5, session_tokens=9, parameters={"top_p": 1}
    )
    assert found == expected
    assert "secret" not in repr(found)
    both = {"AGENTJOURNAL_MODEL": "m", "AGENTJOURNAL_MODEL_URL": "https://h/v1"}
    for changed, named in (
        ({"AGENTJOURNAL_MODEL_URL": ""}, "go together"),
        ({"AGENTJOURNAL_MODEL": ""}, "go together"),
        ({"AGENTJOURNAL_MODEL_URL": "h/v1"}, "url 'h/v1'"),
        ({"AGENTJOURNAL_MODEL": "m" * 300}, "name"),
        ({"AGENTJOURNAL_MODEL_RETRIES": "many"}, "AGENTJOURNAL_MODEL_RETRIES"),
        ({"AGENTJOURNAL_MODEL_RETRIES": "-1"}, "retries"),
        ({"AGENTJOURNAL_MODEL_SESSION_S": "nan"}, "session_s"),
        ({"AGENTJOURNAL_MODEL_PARAMETERS": "[]"}, "AGENTJOURNAL_MODEL_PARAMETERS"),
    ):
        with pytest.raises(NotConfigured, match=named):
            model_settings({**both, **changed})


def test_settings_make_the_extractor_of_roles_and_of_clients(tmp_path: Path) -> None:
    slots = tmp_path / "slots.toml"
    slots.write_text('[user.lucky_number]\nkind = "profile"\ntype = "number"\n')
    plain = Settings("k:1", "postgresql://p", "redis://r", slots=str(slots))
    named = replace(plain, model=ModelSettings("m", "http://h/v1"))
    for settings in plain, named:
        of_client = servers_of(settings).extracting
        assert of_client is not None
        for made in extracting_of(settings), of_client():
            rules = made.rules if isinstance(made, ModelExtracting) else made
            assert isinstance(rules, RuleExtracting)
            assert rules.slots.find("user", "lucky_number") is not None
            assert isinstance(made, ModelExtracting) == (settings is named)

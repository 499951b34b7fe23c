"""Settings: arguments, then the environment, then the stack folder; never a guess."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentjournal.errors import NotConfigured
from agentjournal.kafka_options import client_options
from agentjournal.settings import KafkaSecurity, Settings, find_home, find_settings

STACK = {"kafka": "stack:1", "postgres": "postgresql://stack", "redis": "redis://stack"}
ENVIRONMENT = {
    "AGENTJOURNAL_KAFKA": "environment:1",
    "AGENTJOURNAL_POSTGRES": "postgresql://environment",
    "AGENTJOURNAL_REDIS": "redis://environment",
}
# Of a throw-away authority named "test authority", valid to the year 2126.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUb8fX2kwBaaXOqV/6TMF/wrN3eeEwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOdGVzdCBhdXRob3JpdHkwIBcNMjYxMTI5MjM0MzA0WhgPMjEy
NjExMDUyMzQzMDRaMBkxFzAVBgNVBAMMDnRlc3QgYXV0aG9yaXR5MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEeojULrZTmS1bYEW6xkpGzr0vG78A4N/ZbUJfatLP
2WBMWMW6uuwGvdslmu6E0hfwJoQ88TgnFKmO1YM3q8Ulw6NTMFEwHQYDVR0OBBYE
FHZMW9clfeCu9wjSCJKSJ9JOvsfzMB8GA1UdIwQYMBaAFHZMW9clfeCu9wjSCJKS
J9JOvsfzMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAK1SA0E8
NJx3EtqOMnwwdDxoBdSlTu9AzlgcmrUuaUfeAiEA7bSxGfxdJm4/ULAYXc/RUumh
dql+n7qc/2wTJ12MHuo=
-----END CERTIFICATE-----
"""


def stack_in(folder: Path, text: str | None = None) -> Path:
    home = folder / ".agentjournal"
    home.mkdir(parents=True)
    (home / "stack.json").write_text(json.dumps(STACK) if text is None else text)
    return home


def addresses(found: Settings) -> tuple[str, str, str]:
    return found.kafka, found.postgres, found.redis


def test_arguments_go_before_the_environment_and_that_before_the_stack(tmp_path: Path) -> None:
    stack_in(tmp_path)
    environment = {"AGENTJOURNAL_KAFKA": "environment:1", "AGENTJOURNAL_POSTGRES": "environment:2"}
    found = find_settings(kafka="argument:1", environment=environment, folder=tmp_path)
    assert addresses(found) == ("argument:1", "environment:2", "redis://stack")


def test_the_environment_alone_will_do(tmp_path: Path) -> None:
    found = find_settings(environment=ENVIRONMENT, folder=tmp_path)
    assert addresses(found) == tuple(ENVIRONMENT.values())


def test_the_process_environment_is_read_when_none_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in (ENVIRONMENT | {"AGENTJOURNAL_TENANT": "acme"}).items():
        monkeypatch.setenv(name, value)
    found = find_settings(folder=tmp_path)
    assert (*addresses(found), found.tenant) == (*ENVIRONMENT.values(), "acme")


def test_the_stack_folder_is_found_upwards_the_nearest_first(tmp_path: Path) -> None:
    stack_in(tmp_path)
    near = stack_in(tmp_path / "project")
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    assert find_home(environment={}, folder=below) == near
    assert addresses(find_settings(environment={}, folder=below)) == tuple(STACK.values())


def test_a_folder_without_a_running_stack_is_passed_by(tmp_path: Path) -> None:
    home = stack_in(tmp_path)
    (tmp_path / "project" / ".agentjournal").mkdir(parents=True)
    assert find_home(environment={}, folder=tmp_path / "project") == home


def test_the_named_stack_folder_goes_before_the_one_found(tmp_path: Path) -> None:
    stack_in(tmp_path / "here")
    there = stack_in(tmp_path / "there", '{"kafka": "t:1", "postgres": "t:2", "redis": "t:3"}')
    environment = {"AGENTJOURNAL_HOME": str(there)}
    found = find_settings(environment=environment, folder=tmp_path / "here")
    assert addresses(found) == ("t:1", "t:2", "t:3")


def test_a_named_stack_folder_that_is_not_running_is_not_replaced_by_another(
    tmp_path: Path,
) -> None:
    stack_in(tmp_path)
    environment = {"AGENTJOURNAL_HOME": str(tmp_path / "none")}
    with pytest.raises(NotConfigured):
        find_settings(environment=environment, folder=tmp_path)


def test_what_is_missing_is_named_and_how_to_start_a_stack(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured) as missing:
        find_settings(kafka="k:1", environment={"AGENTJOURNAL_REDIS": ""}, folder=tmp_path)
    words = str(missing.value)
    assert words.startswith("no address for postgres, redis: ")
    assert "`agentjournal up -d`" in words
    assert "AGENTJOURNAL_POSTGRES" in words


@pytest.mark.parametrize("text", ["", "{", "[]", '"text"', "7", "null", "\N{SNOWMAN}"])
def test_a_stack_file_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    home = stack_in(tmp_path, text)
    with pytest.raises(NotConfigured, match=str(home / "stack.json")):
        find_settings(environment={}, folder=tmp_path)


def test_an_address_is_text(tmp_path: Path) -> None:
    stack_in(tmp_path, json.dumps(STACK | {"kafka": None, "redis": 6379}))
    with pytest.raises(NotConfigured, match="no address for kafka, redis: "):
        find_settings(environment={}, folder=tmp_path)


def test_tenant_and_topic_prefix_have_defaults_and_can_be_set() -> None:
    plain = find_settings(environment=ENVIRONMENT)
    assert (plain.tenant, plain.topic_prefix) == ("default", "agentjournal.")
    more = {"AGENTJOURNAL_TENANT": "acme", "AGENTJOURNAL_TOPIC_PREFIX": "eu."}
    found = find_settings(environment=ENVIRONMENT | more)
    assert found.tenant == "acme"
    assert (found.appends, found.events, found.dead, found.alerts) == (
        *("eu.appends", "eu.events", "eu.dead", "eu.alerts"),
    )
    assert find_settings(environment=ENVIRONMENT | more, tenant="other").tenant == "other"


def kafka(more: Mapping[str, str]) -> dict[str, Any]:
    named = {f"AGENTJOURNAL_KAFKA_{name}": value for name, value in more.items()}
    return client_options(find_settings(environment=ENVIRONMENT | named))


def test_plain_text_is_the_default() -> None:
    assert kafka({}) == {
        "bootstrap_servers": "environment:1",
        "security_protocol": "PLAINTEXT",
    }


def test_sasl_arrives_in_the_client_options() -> None:
    sasl = {
        "SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "SASL_MECHANISM": "SCRAM-SHA-512",
        "SASL_USERNAME": "agent",
        "SASL_PASSWORD": "secret",
    }
    assert kafka(sasl) == {
        "bootstrap_servers": "environment:1",
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "agent",
        "sasl_plain_password": "secret",
    }


@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL"])
def test_tls_trusts_the_authority_that_was_named_and_checks_names(
    protocol: str, tmp_path: Path
) -> None:
    authority = tmp_path / "authority.pem"
    authority.write_text(CERTIFICATE)
    options = kafka({"SECURITY_PROTOCOL": protocol, "SSL_CAFILE": str(authority)})
    context = options["ssl_context"]
    assert isinstance(context, ssl.SSLContext)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    [trusted] = context.get_ca_certs()
    assert trusted["subject"] == ((("commonName", "test authority"),),)
    assert ("sasl_mechanism" in options) == (protocol == "SASL_SSL")


def test_secrets_are_not_shown() -> None:
    security = KafkaSecurity(sasl_password="p1", ssl_password="p2")
    shown = repr(Settings("k:1", "postgresql://u:p3@h", "redis://:p4@h", security=security))
    assert all(secret not in shown for secret in ("p1", "p2", "p3", "p4"))


@pytest.mark.parametrize(
    ("said", "traced"), [(None, False), ("", False), ("off", False), ("on", True), ("TRUE", True)]
)
def test_traces_are_made_where_they_are_asked_for(said: str | None, traced: object) -> None:
    environment = ENVIRONMENT if said is None else {**ENVIRONMENT, "AGENTJOURNAL_TRACES": said}
    assert find_settings(environment=environment).traces is traced


def test_a_switch_that_is_neither_on_nor_off_is_refused() -> None:
    with pytest.raises(NotConfigured, match=r"AGENTJOURNAL_TRACES is 'maybe': .* on, .* off"):
        find_settings(environment={**ENVIRONMENT, "AGENTJOURNAL_TRACES": "maybe"})

"""Dashboard and alert rules: every metric they name exists, every alert says what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser as promql
import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from agentjournal.partitions import PARTITIONS
from consumers.metrics import DECISIONS, METRICS, Metric
from consumers.metrics_sequencer import SequencerMetrics
from local.kafka_server import SETTINGS_TEXT

ROOT = Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy/grafana/agentjournal.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = [rule["expr"] for rule in RULES] + [
    target["expr"] for panel in PANELS for target in panel["targets"]
]
OF_THE_SCRAPE = {"job", "instance"}  # labels that Prometheus gives to everything


def parsed(expression: str) -> promql.Expr:
    """Return an expression as Prometheus gets it: what Grafana fills in is filled in."""
    return promql.parse(expression.replace("$__rate_interval", "1m").replace("$job", "j"))


def selectors(expression: str) -> Iterator[promql.VectorSelector]:
    found: list[promql.VectorSelector] = []

    def visit(node: promql.Expr) -> None:
        if isinstance(node, promql.VectorSelector):
            found.append(node)
        elif isinstance(node, promql.MatrixSelector):
            found.append(node.vector_selector)

    promql.walk(parsed(expression), visit, None)
    yield from found


def metric_of(name: str) -> tuple[Metric, set[str]]:
    """Return the metric that a published name belongs to, and the labels it has."""
    for suffix, labels in (("_bucket", {"le"}), ("_sum", set[str]()), ("_count", set[str]())):
        metric = METRICS.get(name.removesuffix(suffix))  # type: ignore[call-overload]
        if name.endswith(suffix) and metric is not None and metric.kind == "histogram":
            return metric, {*metric.labels, *labels}
    metric = METRICS[name]  # type: ignore[index]
    assert metric.kind != "histogram", f"{name} is published with a suffix only"
    return metric, set(metric.labels)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_exists_and_has_the_labels_it_is_selected_by(expression: str) -> None:
    found = list(selectors(expression))
    assert found, "an expression without a metric watches nothing"
    for selector in found:
        assert selector.name is not None
        named = {matcher.name: matcher for matcher in selector.matchers.matchers}
        assert "job" in named, "what another program publishes under the same name counts too"
        if selector.name != "up":
            _, labels = metric_of(selector.name)
            assert named.keys() - OF_THE_SCRAPE <= labels


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_counters_are_read_by_their_rate_and_gauges_as_they_are(expression: str) -> None:
    in_ranges: set[str] = set()

    def visit(node: promql.Expr) -> None:
        if isinstance(node, promql.Call) and node.func.name in {"rate", "increase"}:
            (matrix,) = node.args
            assert isinstance(matrix, promql.MatrixSelector)
            assert matrix.vector_selector.name is not None
            in_ranges.add(matrix.vector_selector.name)

    promql.walk(parsed(expression), visit, None)
    for selector in selectors(expression):
        name = str(selector.name)
        is_gauge = name == "up" or metric_of(name)[0].kind == "gauge"
        assert (name in in_ranges) is not is_gauge, name


def test_decisions_and_reasons_are_those_of_the_sequencer() -> None:
    words: set[str] = set()
    for expression in EXPRESSIONS:
        for selector in selectors(expression):
            for matcher in selector.matchers.matchers:
                if matcher.name in {"decision", "reason"}:
                    words.update(matcher.value.split("|"))
    assert words
    assert words <= set(DECISIONS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_what_makes_a_rule_fire_at_its_first_step_begins_at_0(rule: dict[str, Any]) -> None:
    # A series that begins at 1 has not increased: the first refusal would be told to nobody.
    if not re.search(r"increase\(.+\) > 0$", rule["expr"]):
        return
    watch = SequencerMetrics().watch
    published = {
        (sample.name, frozenset(sample.labels.items()))
        for family in text_string_to_metric_families(
            generate_latest(watch.metrics.registry).decode()
        )
        for sample in family.samples
    }
    for selector in selectors(rule["expr"]):
        (chosen,) = (m for m in selector.matchers.matchers if m.name != "job")
        for value in chosen.value.split("|"):
            assert (selector.name, frozenset({(chosen.name, value)})) in published


def test_the_number_of_partitions_is_that_of_the_rules() -> None:
    (rule,) = (r for r in RULES if r["alert"] == "AgentjournalPartitionsWithoutOwner")
    assert re.search(r"< (\d+)", rule["expr"]).group(1) == str(PARTITIONS)  # type: ignore[union-attr]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_says_how_bad_it_is_what_it_is_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["annotations"]["summary"]
    page, anchor = rule["annotations"]["runbook"].split("#")
    assert anchor == rule["alert"].lower()
    text = (ROOT / page).read_text(encoding="utf-8")
    (section,) = re.findall(
        rf"^### {rule['alert']}\n\n(.+?)(?=\n##|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert len(section) > 100


def test_every_section_of_the_page_is_of_an_alert() -> None:
    text = (ROOT / "docs/alert-rules.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (\w+)$", text, re.MULTILINE) == [rule["alert"] for rule in RULES]


def test_every_metric_is_on_the_dashboard() -> None:
    names = {
        str(s.name) for panel in PANELS for t in panel["targets"] for s in selectors(t["expr"])
    }
    shown = {name for name in METRICS if any(each.startswith(name) for each in names)}
    assert shown == METRICS.keys()


def test_panels_lie_beside_each_other_and_say_what_they_show() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    assert all(panel["title"] and panel["description"] for panel in PANELS)


def test_the_example_scrapes_the_job_that_the_rules_go_by() -> None:
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
    assert [scrape["job_name"] for scrape in config["scrape_configs"]] == ["agentjournal"]
    assert config["rule_files"] == ["alerts.yml"]


def test_the_example_scrapes_every_role_of_the_containers() -> None:
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    roles = [name for name, each in services.items() if each.get("command", [""])[0] == "run"]
    (found,) = config["scrape_configs"][0]["dns_sd_configs"]
    assert found["names"] == roles
    ports = {services[role]["environment"]["AGENTJOURNAL_METRICS_PORT"] for role in roles}
    assert ports == {str(found["port"])}


def test_brokers_keep_the_places_of_services_that_are_stopped_for_long() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    in_containers = services["kafka"]["environment"]["KAFKA_OFFSETS_RETENTION_MINUTES"]
    (in_stack,) = re.findall(r"^offsets\.retention\.minutes=(\d+)$", SETTINGS_TEXT, re.MULTILINE)
    ten_years = 10 * 365 * 24 * 60
    assert int(in_containers) == int(in_stack) == ten_years

"""Write the table of docs/metrics.md from the table of metrics."""

from __future__ import annotations

from pathlib import Path

from consumers.metrics import METRICS, Metric

METRICS_PAGE = Path(__file__).resolve().parents[1] / "docs" / "metrics.md"

_BEGIN, _END = "<!-- made by `python -m commands.metrics_page` -->\n", "<!-- end -->\n"


def metrics_page(page: str) -> str:
    """Return the page with the table as it is now."""
    before, _, rest = page.partition(_BEGIN)
    return before + _BEGIN + _table() + _END + rest.partition(_END)[2]


def _table() -> str:
    rows = "".join(_row(name, metric) for name, metric in METRICS.items())
    return (
        f"| name | kind | unit | labels | what it says |\n| --- | --- | --- | --- | --- |\n{rows}"
    )


def _row(name: str, metric: Metric) -> str:
    labels = "; ".join(f"`{label}`: {says}" for label, says in metric.labels.items())
    return f"| `{name}` | {metric.kind} | {metric.unit} | {labels} | {metric.meaning} |\n"


if __name__ == "__main__":
    METRICS_PAGE.write_text(
        metrics_page(METRICS_PAGE.read_text(encoding="utf-8")), encoding="utf-8"
    )

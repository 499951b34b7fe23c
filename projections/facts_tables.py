"""The tables of the projection `facts`, and how changes of one row merge.

Of a fact event, a retraction and a promotion there is one row each, and the first of a key stays:
nothing of them depends on what else was recorded, or when.
"""

from __future__ import annotations

from collections.abc import Mapping

from projections.rows import Policy, Table

_ENTITY: Mapping[str, Policy] = {"tenant": "key", "entity_kind": "key", "entity_id": "key"}
_SESSION: Mapping[str, Policy] = {"tenant": "key", "session_id": "key"}


def _firsts(names: str) -> Mapping[str, Policy]:
    return dict.fromkeys(names.split(), "first")


FACTS = Table(
    "facts",
    {
        **_ENTITY,
        "fact_key": "key",
        "extractor_key": "key",
        **_firsts(
            "attribute_key fact_id version kind attribute slot value value_key cardinality quote"
            " author_role confidence said_at session_id said_version valid_from valid_to evidence"
            " extractor extractor_version extractor_order recorded_at"
        ),
    },
)
FACT_RETRACTIONS = Table(
    "fact_retractions",
    {
        **_ENTITY,
        "version": "key",
        **_firsts(
            "fact_id fact_key attribute attribute_key value_key said_at reason said_by recorded_at"
        ),
    },
)
PROMOTIONS = Table(
    "promotions",
    {
        **_SESSION,
        "version": "key",
        **_firsts(
            "through_version extractor extractor_version extractor_order learned confirmed"
            " superseded refused summary recorded_at"
        ),
    },
)
SESSION_ENTITIES = Table(
    "session_entities",
    {**_SESSION, "entity_kind": "key", "entity_id": "key", "version": "last", "is_user": "max"},
)
SESSION_MARKS = Table(
    "session_marks", {**_SESSION, "replaced_version": "last", "deleted_version": "last"}
)

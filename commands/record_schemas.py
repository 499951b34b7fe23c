"""JSON Schemas of what stands around events: their envelope, requests, letters and alerts.

Written by hand, beside the code that writes these records; tests hold the two together.
"""

from __future__ import annotations

from agentjournal.ids import STREAM_KINDS
from agentjournal.requests import FORMAT, MAX_EVENTS
from commands.event_schemas import DIALECT
from commands.schema_kinds import CONTROL, Schema, line

STREAM = f"^(?:{'|'.join(STREAM_KINDS)})/[^/]+/[^/]+$"

_MOST = 2**31 - 1  # an integer of a CloudEvent
_MOST_IN_HEADER = 2**53
_NAMES: Schema = {
    "not": {"pattern": "[^a-z0-9]"}
}  # what an attribute of a CloudEvent may be called


def envelope_schema() -> Schema:
    """Return the schema of a record of the topic `events`; `data` has one of its own."""
    return _document(
        "envelope",
        "An event in the log",
        "A CloudEvent 1.0 in JSON, its extension attributes, and the hash that chains it.",
        {
            "type": "object",
            "properties": {**_ALWAYS, **_GIVEN},
            "required": list(_ALWAYS),
            "propertyNames": _NAMES,
        },
    )


def request_header_schema() -> Schema:
    """Return the schema of the first line of a record of the topic `appends`."""
    event = {"type": "array", **_places(_EVENT)}
    header = {
        **_HEADER,
        "start": {
            "description": "The event to put first when the stream is empty: session.started.",
            "anyOf": [event, {"type": "null"}],
        },
        "events": {"type": "array", "minItems": 1, "maxItems": MAX_EVENTS, "items": event},
    }
    return _document(
        "request-header",
        "The header of an append request",
        "The first line of the record. The bytes of every event's data follow it, that of start "
        "first, one after the other, each as long as its size says.",
        {"type": "array", **_places(header)},
    )


def alert_schema() -> Schema:
    """Return the schema of a record of the topic `alerts`."""
    attributes: dict[str, Schema] = {
        "specversion": {"const": "1.0"},
        "id": _text("Equal for the same thing seen again: drop repeats by it."),
        "source": _text("/<tenant>/<role>, percent-encoded"),
        "type": {"type": "string", "pattern": "^alert\\.", "description": "alert.<kind>"},
        "subject": _text("What it is about: a stream, a tool, a tenant."),
        "time": {"type": "string", "description": "When it was seen."},
        "datacontenttype": {"const": "application/json"},
        "schemaversion": {"type": "integer", "minimum": 1, "maximum": _MOST},
        "data": {"type": "object", "properties": _ALERT, "required": list(_ALERT)},
    }
    return _document(
        "alert",
        "An alert",
        "A CloudEvent 1.0 in JSON: something that somebody should look at.",
        {
            "type": "object",
            "properties": attributes,
            "required": list(attributes),
            "propertyNames": _NAMES,
        },
    )


def dead_headers_schema() -> Schema:
    """Return the schema of the Kafka headers of a record of the topic `dead`."""
    digits = line("^[0-9]+$")
    return {
        "type": "object",
        "properties": {
            "partition": {**digits, "description": "Where the request is in the topic appends."},
            "position": {**digits, "description": "And its offset there."},
            "reason": {"type": "string", "description": "rejected, conflict, deleted and so on."},
            "path": {"type": "string", "description": "The place in the request, if one is wrong."},
            "text": {"type": "string", "description": "What is wrong with it, in words."},
            "expected_version": {"type": "string", "description": "Of a lost race: its claim,"},
            "actual_version": {**digits, "description": "and the version that was there."},
        },
        "required": ["partition", "position", "reason"],
    }


def _document(name: str, title: str, description: str, body: Schema) -> Schema:
    about = {"title": title, "description": description}
    return {"$schema": DIALECT, "$id": f"urn:agentjournal:{name}", **about, **body}


def _places(fields: dict[str, Schema]) -> Schema:
    items = [{"title": name, **schema} for name, schema in fields.items()]
    return {"prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _text(description: str) -> Schema:
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": 8_192,
        "not": {"pattern": CONTROL},
        "description": description,
    }


def _count(description: str, least: int = 0, most: int = _MOST) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, "description": description}


def _or_null(schema: Schema) -> Schema:
    of = {name: value for name, value in schema.items() if name != "description"}
    return {"description": schema["description"], "anyOf": [of, {"type": "null"}]}


_TRACE = {
    "correlationid": _text("What belongs together, as the writer sees it."),
    "causationid": _text("The event that this one follows from."),
    "traceparent": _text("W3C Trace Context"),
}
_ALWAYS: dict[str, Schema] = {
    "specversion": {"const": "1.0"},
    "id": _text("Given by the writer; unique in its source."),
    "source": _text("The program that wrote it, like /acme/support."),
    "type": _text("Says, with schemaversion, what data is."),
    "subject": {
        **line(STREAM),
        "description": "The stream, and the record's key: <kind>/<tenant>/<id>, percent-encoded.",
    },
    "datacontenttype": {"const": "application/json"},
    "schemaversion": _count("Of the type."),
    "dataencoding": {"const": "json", "description": "Stop at another one."},
    "version": {
        **line("^[1-9][0-9]*$"),
        "description": "The place in the stream: 1, 2, 3 and so on. Text, for it has 64 bits.",
    },
    "index": _count("The place in the batch that it was appended with."),
    "appendid": _text("Of that batch: a retry has the same."),
    "size": _count("How many events the batch has.", 1),
    "inputposition": {
        **line("^(?:0|[1-9][0-9]*)$"),
        "description": "With index the order in the partition: drop what is not greater.",
    },
    "recordedat": {
        **line("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"),
        "description": "The broker's clock.",
    },
    "rules": _count("The rules that it was accepted by.", 1),
    "data": {"type": "object", "description": "See events/<type>/<schemaversion>.json."},
    "prevhash": {
        **line("^[0-9a-f]{64}$"),
        "description": "The hash of the version before; 64 zeros at version 1.",
    },
    "hash": {
        **line("^[0-9a-f]{64}$"),
        "description": 'SHA-256 of every byte of the record before ,"hash":',
    },
}
_GIVEN: dict[str, Schema] = {
    "agent": _text("The agent that wrote it."),
    "worker": _text("The worker that ran it."),
    "fence": {
        **line("^(?:0|[1-9][0-9]*)$"),
        "description": "The version of the event that took the lease it was written under.",
    },
    "time": _text("The writer's clock: a claim, never order."),
    "tokens": _count("Of its text, as the writer counted them."),
    **_TRACE,
    "start": {"const": True, "description": "Put first because the stream was empty."},
}
_HEADER: dict[str, Schema] = {
    "format": {"const": FORMAT},
    "appendid": _text("Of this batch: a retry has the same."),
    "attempt": _count("Which sending of it this is.", 0, _MOST_IN_HEADER),
    "expectedversion": _or_null(
        _count("The version that the stream must be at; 0: must not exist.", 0, _MOST_IN_HEADER)
    ),
    "fence": _or_null(_count("Of the lease it is written under.", 0, _MOST_IN_HEADER)),
    "replyto": _or_null(_text("The Redis channel that waits for the receipt.")),
    "source": _text("The program that writes."),
    "agent": _or_null(_text("The agent that writes.")),
    "worker": _or_null(_text("The worker that runs it.")),
    "dataencoding": _text("json"),
}
_EVENT: dict[str, Schema] = {
    "id": _text("Unique in its source."),
    "type": _text("A type of the catalogue, or custom.<name>."),
    "schemaversion": _count("Of the type."),
    "size": _count("How many bytes its data has."),
    "time": _or_null(_text("The writer's clock.")),
    "tokens": _or_null(_count("Of its text.")),
    **{name: _or_null(schema) for name, schema in _TRACE.items()},
}
_ALERT: dict[str, Schema] = {
    "kind": {"type": "string", "description": "Like error_rate; later releases have more."},
    "severity": {"type": "string", "description": "warning, critical, or one of a later release."},
    "tenant": {"type": "string"},
    "subject": {"type": "string", "description": "What it is about: a stream, a tool, a tenant."},
    "text": {"type": "string", "description": "One line for people."},
    "at": {"type": "string", "description": "ISO 8601: when it was seen."},
    "source": {"type": "string", "description": "The role that raised it."},
    "value": {"type": ["number", "null"], "description": "What was measured."},
    "threshold": {"type": ["number", "null"], "description": "What it may be at most."},
}

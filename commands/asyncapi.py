"""The AsyncAPI 3.0 document of the topics: who writes what to which, and what a record is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from agentjournal.events import BUILT_IN, Event
from agentjournal.partitions import PARTITIONS
from commands.event_schemas import DIALECT, summary_of
from commands.record_schemas import STREAM, dead_headers_schema

Document: TypeAlias = dict[str, Any]

_BINDINGS = "0.5.0"
_DAY_MS = 24 * 3_600 * 1_000
_MIB = 1024 * 1024
_FORMAT = "application/schema+json;version=draft-2020-12"
_CLOUD_EVENT = "application/cloudevents+json"
_BYTES = "application/octet-stream"

_ABOUT = (
    "The topics of a log of agents' state, as the servers of agentjournal see them: they receive "
    "requests, and send events, letters and alerts. Whoever appends writes to appends; whoever "
    "reads reads events. What a reader has to do beyond what schemas say, like dropping repeats, "
    "is in README.md beside this file."
)


def asyncapi_document() -> Document:
    """Return the document; it refers to the schemas in the files beside it."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "agentjournal",
            "version": "1.0.0",
            "description": _ABOUT,
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": _CLOUD_EVENT,
        "servers": {"kafka": _SERVER},
        "channels": {name: _channel(name) for name in _TOPICS},
        "operations": {
            "decide": _operation("receive", "appends", "Decides every request, once and for all."),
            "record": _operation("send", "events", "Writes what was accepted, numbered, chained."),
            "refuse": _operation("send", "dead", "Keeps what was refused, as it came."),
            "alert": _operation("send", "alerts", "Says what somebody should look at."),
        },
        "components": {"messages": _messages()},
    }


def event_path(model: type[Event]) -> str:
    """Return where the schema of an event is, from the folder of schemas."""
    return f"events/{model.type}/{model.schema_version}.json"


_SERVER: Document = {
    "host": "{address}",
    "protocol": "kafka",
    "description": "`agentjournal status` shows the address of a local one.",
    "variables": {"address": {"default": "127.0.0.1:19092", "description": "host:port"}},
}
_PREFIX: Document = {
    "default": "agentjournal.",
    "description": "AGENTJOURNAL_TOPIC_PREFIX: what the names of all topics begin with.",
}
_BY_BROKER: Document = {"message.timestamp.type": "LogAppendTime"}
_FOR_EVER: Document = {"retention.ms": -1}

# Description, partitions, configuration that AsyncAPI has a word for, configuration besides.
_TOPICS: Mapping[str, tuple[str, int, Document, Document]] = {
    "appends": (
        "Requests to append. Their partition is murmur2 of the key; found elsewhere, refused.",
        PARTITIONS,
        {"retention.ms": 7 * _DAY_MS, "max.message.bytes": _MIB},
        _BY_BROKER,
    ),
    "events": (
        "The log: all that was accepted, in the partition of its stream. Records may repeat.",
        PARTITIONS,
        {**_FOR_EVER, "retention.bytes": -1, "max.message.bytes": 2 * _MIB},
        {},
    ),
    "dead": (
        "Requests that were refused for good or lost a race. Letters may repeat.",
        1,
        {**_FOR_EVER, "max.message.bytes": 2 * _MIB},
        {},
    ),
    "alerts": (
        "What somebody should look at. Alerts may repeat, with the same id.",
        1,
        {"retention.ms": 7 * _DAY_MS},
        {},
    ),
}


def _channel(name: str) -> Document:
    about, partitions, known, more = _TOPICS[name]
    kafka = {"partitions": partitions, "topicConfiguration": known, "bindingVersion": _BINDINGS}
    channel: Document = {
        "address": f"{{prefix}}{name}",
        "description": about,
        "parameters": {"prefix": _PREFIX},
        "messages": {each: _to("components", "messages", each) for each in _messages_of(name)},
        "bindings": {"kafka": kafka},
    }
    return {**channel, "x-topic-configuration": more} if more else channel


def _messages_of(topic: str) -> list[str]:
    if topic == "events":
        return [model.__name__ for model in BUILT_IN.values()] + ["CustomEvent"]
    return {"appends": ["AppendRequest"], "dead": ["DeadLetter"], "alerts": ["Alert"]}[topic]


def _operation(action: str, topic: str, summary: str) -> Document:
    return {
        "action": action,
        "channel": _to("channels", topic),
        "summary": summary,
        "messages": [_to("channels", topic, "messages", each) for each in _messages_of(topic)],
    }


def _messages() -> Document:
    return {
        **{model.__name__: _event(model) for model in BUILT_IN.values()},
        "CustomEvent": _custom_event(),
        "AppendRequest": _request(),
        "DeadLetter": _letter(),
        "Alert": _alert(),
    }


def _event(model: type[Event]) -> Document:
    fixed = {
        "type": {"const": model.type},
        "schemaversion": {"const": model.schema_version},
        "data": {"$ref": f"./{event_path(model)}"},
    }
    title = f"{model.type}, version {model.schema_version}"
    return _record(title, summary_of(model), fixed)


def _custom_event() -> Document:
    fixed: Document = {"type": {"pattern": "^custom\\.[A-Za-z0-9_.-]{1,248}$"}}
    return _record("custom.<name>", "An event of a user's own type: data is any object.", fixed)


def _record(title: str, summary: str, fixed: Document) -> Document:
    both = [{"$ref": "./envelope.json"}, {"type": "object", "properties": fixed}]
    return {
        "title": title,
        "summary": summary,
        "contentType": _CLOUD_EVENT,
        "payload": _schema({"$schema": DIALECT, "allOf": both}),
        "bindings": {"kafka": _key("The stream.", {"pattern": STREAM})},
    }


def _request() -> Document:
    return {
        "title": "A request to append",
        "description": "A line of JSON, then bytes: the header, a newline, and the bytes of every "
        "event's data one after the other. No JSON document: the schema is that of the line, and "
        "that of each event's data is the one of its type and version.",
        "contentType": _BYTES,
        "payload": {"type": "string", "format": "binary"},
        "bindings": {"kafka": _key("The stream.", {"pattern": STREAM})},
        "x-header-line": {"$ref": "./request-header.json"},
    }


def _letter() -> Document:
    return {
        "title": "A refused request",
        "description": "Key and value are the bytes that were in appends, whatever they are; the "
        "headers are text in UTF-8, and say why it was refused.",
        "contentType": _BYTES,
        "headers": dead_headers_schema(),
        "payload": {"type": "string", "format": "binary"},
        "bindings": {"kafka": _key("As it came: a stream, if that is not what was wrong.", {})},
    }


def _alert() -> Document:
    return {
        "title": "An alert",
        "contentType": _CLOUD_EVENT,
        "payload": _schema({"$ref": "./alert.json"}),
        "bindings": {"kafka": _key("The alert's id.", {})},
    }


def _schema(schema: Document) -> Document:
    return {"schemaFormat": _FORMAT, "schema": schema}


def _key(description: str, more: Document) -> Document:
    key = {"type": "string", "description": description, **more}
    return {"key": key, "bindingVersion": _BINDINGS}


def _to(*names: str) -> Document:
    return {"$ref": "#/" + "/".join(names)}

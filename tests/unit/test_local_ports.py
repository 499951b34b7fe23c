"""Which ports a stack takes."""

from __future__ import annotations

import socket

import pytest

from local.errors import NoPortFree
from local.ports import HOST, Reservations, choose_ports, moved, port_is_free

USUAL = {"kafka": 19092, "postgres": 15432, "redis": 16379, "controller": 29092}


def test_the_usual_ports_are_taken_where_they_are_free() -> None:
    assert choose_ports({}, take=lambda _: True) == USUAL


def test_a_taken_port_gives_the_next_one_and_is_reported() -> None:
    chosen = choose_ports({}, take=lambda port: port not in {19092, 19093})
    assert chosen == {**USUAL, "kafka": 19094}
    assert moved(chosen, {}) == ["port 19092 is taken: kafka listens on 19094"]


def test_a_remembered_port_is_kept_though_the_usual_one_is_free_again() -> None:
    remembered = {**USUAL, "kafka": 19094}
    chosen = choose_ports(remembered, take=lambda _: True)
    assert chosen == remembered
    assert moved(chosen, remembered) == []


def test_a_remembered_port_that_is_taken_is_left_and_that_is_reported() -> None:
    remembered = {**USUAL, "redis": 17000}
    chosen = choose_ports(remembered, take=lambda port: port != 17000)
    assert chosen == USUAL
    assert moved(chosen, remembered) == ["port 17000 is taken: redis listens on 16379"]


def test_two_servers_never_get_one_port() -> None:
    remembered = dict.fromkeys(USUAL, 20000)
    assert len(set(choose_ports(remembered, take=lambda _: True).values())) == 4


@pytest.mark.parametrize("damage", ["19094", None, 0, -1, 70000, [], 1.5])
def test_a_damaged_memory_of_ports_is_as_none(damage: object) -> None:
    assert choose_ports({"kafka": damage}, take=lambda _: True) == USUAL


def test_no_free_port_is_an_error_that_names_the_server() -> None:
    with pytest.raises(NoPortFree, match="postgres"):
        choose_ports({}, take=lambda port: not 15432 <= port <= 15700)


@pytest.mark.parametrize("listening_on", [HOST, "0.0.0.0"])
def test_a_port_that_somebody_listens_on_is_not_free_and_is_once_he_ended(
    listening_on: str,
) -> None:
    with socket.create_server((listening_on, 0)) as listener:
        port: int = listener.getsockname()[1]
        assert not port_is_free(port)
    assert port_is_free(port)


def test_a_port_is_free_though_old_connections_to_it_linger() -> None:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        client = socket.create_connection((HOST, port))
        served, _ = listener.accept()
        served.close()  # the side that closes first lingers in TIME_WAIT
        client.close()
    assert port_is_free(port)


def test_a_port_that_a_stack_reserved_is_not_given_to_another_until_it_ends() -> None:
    one, other = Reservations(), Reservations()
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        assert not one.take(port)
    assert one.take(port)
    assert not other.take(port)
    one.close()
    assert other.take(port)
    other.close()

"""The cast (alice owns, bob is invited, charlie is a stranger), her workspace, and the network guard."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# A real broker for whoever asks for one.
from tests.broker import broker, broker_process, broker_url  # noqa: F401

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from sessions_app.models import Session, Workspace


def is_local(address: Any) -> bool:
    """Whether a socket address stays on this machine: a Unix path, or loopback by number or name."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def network_guard() -> Iterator[None]:
    """No test of this process reaches beyond the machine, whatever a client library tries by itself."""
    patch = pytest.MonkeyPatch()
    for name in ("connect", "connect_ex"):
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, address: Any, original: Any = original) -> Any:
            if not is_local(address):
                raise AssertionError(
                    f"A test tried to reach {address!r}; tests may talk to this machine only."
                )
            return original(self, address)

        patch.setattr(socket.socket, name, guarded)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def tables_without_a_model_are_emptied_too() -> Iterator[None]:
    """The words of the search have no model: on PostgreSQL emptying the tables they refer to must reach them."""
    from django.db import connection

    patch = pytest.MonkeyPatch()
    if connection.vendor == "postgresql":
        sql_flush = connection.ops.sql_flush

        def with_cascade(
            style: Any, tables: Any, *, reset_sequences: bool = False, allow_cascade: bool = False
        ) -> Any:
            return sql_flush(style, tables, reset_sequences=reset_sequences, allow_cascade=True)

        patch.setattr(connection.ops, "sql_flush", with_cascade)
    yield
    patch.undo()


@pytest.fixture
def alice(db: None) -> User:
    """Owns the workspace."""
    return create_person("alice")


@pytest.fixture
def bob(db: None) -> User:
    """Is invited to alice's workspace as a member."""
    return create_person("bob")


@pytest.fixture
def charlie(db: None) -> User:
    """Has an account and nothing to do with alice's workspace."""
    return create_person("charlie")


@pytest.fixture
def workspace(alice: User, bob: User, tmp_path: Path) -> Workspace:
    """alice's folder (empty, real), with bob as a member."""
    from sessions_app.models import Membership, Workspace

    folder = tmp_path / "workspace"
    folder.mkdir(exist_ok=True)
    workspace = Workspace.objects.create(name="Workspace", path=str(folder.resolve()))
    Membership.objects.create(workspace=workspace, user=alice, role=Membership.Role.ADMIN)
    Membership.objects.create(workspace=workspace, user=bob, role=Membership.Role.MEMBER)
    return workspace


@pytest.fixture
def session(workspace: Workspace, alice: User) -> Session:
    """alice's session in her workspace, still empty, with the demo model."""
    from sessions_app.models import Session

    return Session.objects.create(workspace=workspace, owner=alice, file_id="session-1")


@pytest.fixture
def alice_client(alice: User) -> Client:
    return client_of(alice)


@pytest.fixture
def bob_client(bob: User) -> Client:
    return client_of(bob)


@pytest.fixture
def charlie_client(charlie: User) -> Client:
    return client_of(charlie)


def create_person(name: str) -> User:
    from django.contrib.auth.models import User

    return User.objects.create_user(name, password=f"{name}-has-a-long-password")


def client_of(user: User) -> Client:
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client

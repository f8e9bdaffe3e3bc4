"""Keys go in and never come out."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from sessions_app import provider_keys
from sessions_app.models import ProviderKey

SECRET = "sk-ant-secret-words"


def save(client: Client, **fields: str) -> int:
    form = {"provider": "anthropic", "scope": "yours", "secret": SECRET, **fields}
    return client.post("/keys/", form).status_code


def test_a_saved_key_is_used_and_never_shown(alice_client: Client, alice: User) -> None:
    assert save(alice_client) == 302
    assert provider_keys.credentials(alice, "anthropic").api_key == SECRET
    text = alice_client.get("/keys/").content.decode()
    assert SECRET not in text
    assert "your key" in text
    assert SECRET not in ProviderKey.objects.get().secret


def test_an_empty_field_keeps_the_stored_key(alice_client: Client, alice: User) -> None:
    save(alice_client)
    assert save(alice_client, secret="", base_url="https://proxy.example/") == 302
    assert provider_keys.credentials(alice, "anthropic").api_key == SECRET


def test_a_key_of_one_is_no_key_of_another(alice_client: Client, bob: User, bob_client: Client) -> None:
    save(alice_client)
    assert provider_keys.credentials(bob, "anthropic").api_key == ""
    assert "not set up" in bob_client.get("/keys/").content.decode()


def test_only_staff_set_the_servers_keys(alice_client: Client, alice: User, bob: User) -> None:
    assert save(alice_client, scope="server") == 403
    assert not ProviderKey.objects.exists()
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert save(alice_client, scope="server") == 302
    assert provider_keys.credentials(bob, "anthropic").api_key == SECRET


def test_only_staff_delete_the_servers_keys(bob_client: Client, bob: User) -> None:
    provider_keys.save_key(user=None, provider="anthropic", secret=SECRET)
    form = {"provider": "anthropic", "action": "delete", "scope": "server"}
    assert bob_client.post("/keys/", form).status_code == 403
    assert ProviderKey.objects.count() == 1
    assert "Delete the server" not in bob_client.get("/keys/").content.decode()


def test_a_deleted_key_is_gone(alice_client: Client, alice: User) -> None:
    save(alice_client)
    alice_client.post("/keys/", {"provider": "anthropic", "action": "delete", "scope": "yours"})
    assert not ProviderKey.objects.exists()


def test_a_key_from_the_environment_is_named_as_such(alice_client: Client, settings: Settings) -> None:
    settings.PROVIDER_KEYS = {"anthropic": SECRET}
    text = alice_client.get("/keys/").content.decode()
    assert "from the server’s environment" in text
    assert SECRET not in text


@pytest.mark.parametrize("address", ["", "not an address", "javascript:alert(1)"])
def test_a_server_of_ones_own_needs_an_address(alice_client: Client, address: str) -> None:
    response = alice_client.post(
        "/keys/", {"provider": "openai-compatible", "scope": "yours", "base_url": address, "secret": SECRET}
    )
    assert response.status_code == 422
    assert "field-error" in response.content.decode()
    assert SECRET not in response.content.decode()
    assert not ProviderKey.objects.exists()

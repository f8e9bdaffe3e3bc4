"""The demo model within a conversation: what "it" is, again, undo, steering, and what it remembers."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions_app.core.messages import user_message
from tests.agent.providers.demo_talk import Talk, make_folder


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(make_folder(tmp_path, git=False))


def test_it_and_the_second_one_mean_what_was_named_before(talk: Talk) -> None:
    talk.say("list all python files")
    assert "[`station/main.py`]" in talk.say("show me the second one")
    assert "14 lines" in talk.say("now count its lines")
    assert "`os`" in talk.say("list the imports of it")
    assert "Deleted `station/main.py`" in talk.say("delete it")
    assert not (talk.root / "station/main.py").exists()
    talk.say("undo")
    assert talk.read("station/main.py").startswith('"""Entry point')


def test_an_ordinal_beyond_the_list_is_told(talk: Talk) -> None:
    talk.say("find all markdown files")
    assert "has only 2" in talk.say("read the fifth one")
    assert "no list" in Talk(talk.root).say("read the second one")


def test_undo_takes_back_one_change_after_the_other(talk: Talk) -> None:
    talk.say('create a.txt with the text "one"')
    talk.say('add "two" to it')
    talk.say("rename a.txt to b.txt")
    assert talk.read("b.txt") == "one\ntwo\n"
    talk.say("undo")
    assert talk.read("a.txt") == "one\ntwo\n"
    talk.say("undo that please")
    assert talk.read("a.txt") == "one\n"
    assert "had created" in talk.say("undo")
    assert not (talk.root / "a.txt").exists()
    assert talk.say("undo").startswith("No change of this conversation is left")


def test_again_does_the_same_once_more(talk: Talk) -> None:
    first = talk.say("count the lines in notes.txt")
    assert talk.say("again") == first
    assert [name for name, _ in talk.calls()] == ["bash", "bash"]


def test_what_the_model_is_stands_once_in_every_answer(talk: Talk) -> None:
    for text in (
        "hello",
        "list the files",
        "write a poem",
        "count the lines in notes.txt and read notes.txt",
    ):
        assert talk.say(text).count("*Demo model, offline: a script, not an AI.*") == 1


def test_what_was_done_is_listed_from_the_conversation(talk: Talk) -> None:
    talk.say("read nothing.txt")
    talk.say('create a.txt with the text "one"')
    told = talk.say("what did you do so far?")
    assert "“read nothing.txt” → `read`, `find`, 1 failed" in told
    assert "[`a.txt`](a.txt)" in told


def test_a_message_during_the_job_comes_first(talk: Talk) -> None:
    talk.steering = ["count the lines in notes.txt"]
    answer = talk.say("Summarise this folder")
    assert "[`notes.txt`](notes.txt): 4 lines" in answer
    assert any("Your new message comes first" in str(m["content"]) for m in talk.messages)
    assert talk.tools_used() == ["ls", "bash"]


def test_a_message_that_begins_with_also_is_added_to_the_job(talk: Talk) -> None:
    talk.steering = ["also count the lines in notes.txt"]
    answer = talk.say("Summarise this folder")
    assert talk.tools_used() == ["ls", "find", "read", "bash"]
    assert "[`notes.txt`](notes.txt): 4 lines" in answer
    assert sum(name == "ls" for name, _ in talk.calls()) == 1
    assert any("added to the job" in str(m["content"]) for m in talk.messages)


def test_stop_as_a_message_stops_the_job(talk: Talk) -> None:
    talk.steering = ["stop"]
    assert "Stopped here" in talk.say("Summarise this folder")


def test_a_file_put_in_by_the_composer_is_a_mention_of_it(talk: Talk) -> None:
    answer = talk.say('<file name="notes.txt">\nbanana\n</file>\nExplain this')
    assert "[`notes.txt`](notes.txt)" in answer
    assert "@docs/notes.md" not in answer
    assert "Wiring" in talk.say("explain @docs/notes.md")


def test_an_image_alone_is_answered_honestly(talk: Talk) -> None:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    message = user_message("", timestamp=1)
    message["content"] = [image]
    assert "cannot see images" in talk.go_on([message])


def test_a_job_cut_in_two_by_a_compaction_goes_on(talk: Talk) -> None:
    talk.messages = [
        user_message(
            "The conversation before this point was summarised:\n\n<summary>\n## Goal\nx\n\n### In Progress\n"
            "- [ ] count the lines in notes.txt\n\n### Blocked\n(none)\n</summary>",
            timestamp=1,
        )
    ]
    assert "[`notes.txt`](notes.txt): 4 lines" in talk.go_on([])


def test_a_command_of_the_person_is_no_request(talk: Talk) -> None:
    talk.messages = [user_message("Ran `ls`\n```\nnotes.txt\n```", timestamp=1)]
    assert "4 lines" in talk.say("count the lines in notes.txt")
    assert "Your new message" not in str(talk.messages)


def test_thinking_names_what_was_recognised_and_claims_no_more(talk: Talk) -> None:
    talk.thinking_level = "low"
    talk.say("read notes.txt; then count its lines")
    thoughts = [
        b["thinking"]
        for m in talk.messages
        for b in m["content"]
        if isinstance(b, dict) and b["type"] == "thinking"
    ]
    assert thoughts == ["“read notes.txt; then count its lines” matches: show file, then count in file. The steps follow from the tool results."]  # fmt: skip

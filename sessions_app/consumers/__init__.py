"""The socket of a session page: rows first, then the live tail, with no gap between them.

Frames to the browser, each a JSON object with `t`:

    hello    version, seq          the answer to every resume
    entries  seq, leaf, path, html, replaces
                                   path append: articles for the end of the transcript, in the place of the
                                   previews named in `replaces`; reset: the leaf is elsewhere, fetch anew
    article  seq, html             an entry that is on the page, as it is now
    live     id, ops               changes of the live region (`stream_hub`); id is what resume gives back
    part     target, html          the content of one part of the page
    say      text                  for the status that screen readers speak
    ping, pong

Ops: snapshot html · message key html · block key index html · stable key index html (add) · tail key index
html (replace) · more key index text (add to the tail) · tool id html · tooltail id text · drop key · clear.
"""

from __future__ import annotations

from sessions_app.consumers.session_consumer import SessionConsumer

__all__ = ["SessionConsumer"]

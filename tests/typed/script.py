"""A user's script: what editors and type checkers see of the library. It is checked, and not run."""

from collections.abc import Iterator

import distsearch
from distsearch import Client, ServiceError, Session, search
from distsearch.api.result import Outcome

outcome: Outcome = distsearch.search("othello", "startpos", depth=8, board="8x8", empties="winner")
score: float | None = search("connect4", "44444", exact=True).score
print(outcome.to_text(), outcome.pv, score)

with Session(table=256, worker_timeout=10.0) as session:
    first: Outcome = session.search("othello", "f5d6c3", depth=12)
    answers: Iterator[Outcome] = session.solve("connect4", ["44444", "4453"])
    print(first.to_json(), [answer.score for answer in answers], session.play("2048", games=10, seed=1).to_text())
    print(sum(session.perft("othello", 5).counts))

with Client("/run/user/1000/distsearch", timeout=60.0) as client:
    pending = client.submit("othello", ["f5d6c3", "startpos"], depth=16)
    try:
        print([answer["move"] for answer in pending.answers()], client.status()["ranks"])
    except ServiceError as error:
        print(error.code, error.message)

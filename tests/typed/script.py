"""A user's script: what editors and type checkers see of the library. It is checked, and not run."""

from collections.abc import Iterator

import distsearch
from distsearch import AsyncClient, Board, Client, LocalCluster, ServiceError, Session, search
from distsearch.api.facts import Facts
from distsearch.api.result import Outcome

outcome: Outcome = distsearch.search("othello", "startpos", depth=8, board="8x8", empties="winner")
score: float | None = search("connect4", "44444", exact=True).score
print(outcome.to_text(), outcome.pv, score)


def tell(facts: Facts) -> None:
    print(facts.move, facts.score, facts.nodes_per_second, facts.seconds_left)


with Session(table=256, worker_timeout=10.0, progress=tell) as session:
    first: Outcome = session.search("othello", "f5d6c3", depth=12, progress=tell)
    answers: Iterator[Outcome] = session.solve("connect4", ["44444", "4453"])
    print(first.to_json(), [answer.score for answer in answers], session.play("2048", games=10, seed=1).to_text())
    print(sum(session.perft("othello", 5).counts))

board = Board("2048", seed=1)
board.push(board.legal_moves[0])
tiles: list[str] = board.spawn()
print(board.copy() == board, board.outcomes, board.pop(), board.result or tiles)

with Client("/run/user/1000/distsearch", timeout=60.0) as client:
    pending = client.submit("othello", ["f5d6c3", "startpos"], depth=16)
    try:
        print([answer["move"] for answer in pending.answers()], client.status()["ranks"])
    except ServiceError as error:
        print(error.code, error.message)

with LocalCluster(ranks=4, table=64) as cluster:
    print(cluster.search("2048", board, depth=5)["move"], cluster.path, cluster.client().look("2048", board)["moves"])


async def ask() -> None:
    async with AsyncClient("http://127.0.0.1:8080/#token=abc") as asking:
        print((await asking.search("2048", board, depth=5))["score"], await asking.status())
        async for answer in asking.answers("connect4", ["4", "44"], exact=True):
            print(answer["index"])

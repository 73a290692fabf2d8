"""What clients make of bytes that come: by HTTP, another program may have sent them."""

import pytest

from distsearch.server.exchange import HttpAddress, HttpExchange, Reply, ServiceError

HEAD = b"HTTP/1.0 200 OK\r\n\r\n"


def result(body, several=False):
    exchange, reply = HttpExchange(HttpAddress("host", 80, "", "")), Reply(several)
    exchange.ask({"op": "search", "id": 1, "game": "othello"}, reply)
    exchange.feed(HEAD + body)
    exchange.end()
    return reply.result()


def test_answers_come_in_the_order_of_their_positions():
    answers = b'{"type": "answer", "index": 1}\n{"type": "answer", "index": 0}\n{"type": "done", "state": "done"}'
    assert [each["index"] for each in result(answers, several=True)] == [0, 1]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        b"words",
        b"[" * 9999,
        b"[1]\n",
        b'{"type": "answer"}\n{"type": "done", "state": "done"}',
        b'{"type": "answer", "index": "0"}\n{"type": "done", "state": "done"}',
        b'{"type": "other"}\n{"type": "done", "state": "done"}',
        b'{"type": "error", "error": [1]}',
        b'{"type": "done"}',
    ],
    ids=lambda body: body[:40].decode(),
)
def test_what_no_service_says_is_told_as_that(body, several):
    with pytest.raises(ServiceError, match="no service of distsearch"):
        result(body, several)


def test_an_end_without_an_answer_is_told():
    with pytest.raises(ServiceError, match="no service of distsearch"):
        result(b'{"type": "done", "state": "done"}')

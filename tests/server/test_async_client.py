"""The clients for programs, in asyncio and without, at a socket and over HTTP: the same methods, the same answers."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading

import pytest

from distsearch import Board
from distsearch.core.errors import UserError
from distsearch.server.async_client import AsyncClient
from distsearch.server.client import Client, ServiceError
from distsearch.server.exchange import HttpAddress
from distsearch.server.limits import DEFAULTS

from .fake_queue import FakeDesk
from .serving import Serving

SOON = 30  # seconds for whatever comes soon


@pytest.fixture
def queue():
    """What the service has at its other end."""
    return FakeDesk()


@pytest.fixture(params=["socket", "http"])
def address(request, tmp_path, queue):
    """Where a service is."""
    if request.param == "socket":
        with Serving(queue, tmp_path / "socket") as serving:
            yield serving.path
        return
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    from .http.asking import OverHttp

    with OverHttp(queue, tmp_path) as service:
        yield service.gateway.url_with_token


def refused(code):
    """A context in which a ServiceError of this code is raised."""
    return pytest.raises(ServiceError, match=f"^{code}: ")


def in_asyncio(work, address):
    """Return what ``await work(client)`` does, within a minute."""

    async def run():
        async with asyncio.timeout(60), AsyncClient(address) as client:
            return await work(client)

    return asyncio.run(run())


def test_it_loads_nothing_heavy():
    heavy = "numba", "numpy", "mpi4py", "distsearch.games", "distsearch.core.jit", "http.client"
    program = f"import sys, distsearch.server.async_client; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_both_clients_say_the_same(address):
    async def asked(client):
        one = await client.search("connect4", "44", depth=3)
        several = await client.search("connect4", ["4", "44", "445"])
        return [one, several, await client.look("connect4", "44"), (await client.status())["state"]]

    with Client(address, timeout=SOON) as client:
        one, several = client.search("connect4", "44", depth=3), client.search("connect4", ["4", "44", "445"])
        plain = [one, several, client.look("connect4", "44"), client.status()["state"]]
    found = in_asyncio(asked, address)

    def without_ids(answer):
        return {name: value for name, value in answer.items() if name != "id"}

    assert without_ids(one) == without_ids(found[0])
    assert list(map(without_ids, several)) == list(map(without_ids, found[1]))
    assert [answer["index"] for answer in several] == [0, 1, 2]
    assert without_ids(plain[2]) == without_ids(found[2])
    assert plain[2]["moves"] == ["1", "2", "3", "4", "5", "6", "7"]
    assert plain[3] == found[3] == "serving"


def test_boards_stand_for_texts(address, queue):
    async def asked(client):
        await client.search("othello", board, depth=3)
        await client.search("othello", [board, board], depth=3)
        return await client.look("othello", board)

    board = Board("othello", "c2", board="6x6", empties="none")
    with Client(address, timeout=SOON) as client:
        client.search("othello", board, depth=3)
        assert client.look("othello", board)["position"] == board.position
        with pytest.raises(UserError, match="board 8x8 is not that of the Board, 6x6"):
            client.search("othello", board, board="8x8")
    assert in_asyncio(asked, address)["moves"] == board.legal_moves
    for request in queue.submitted:
        assert (request.options.board, request.options.rules) == ((6, 6), {"empties": "none"})
        assert {position.side for position in request.positions} == {1}


def test_progress(address):
    async def asked(client):
        return await client.search("connect4", "4", on_progress=seen.append, progress=0.5)

    seen = []
    assert in_asyncio(asked, address)["move"] == "d3"
    assert [(message["type"], message["complete"]) for message in seen] == [("progress", False)]
    with Client(address, timeout=SOON) as client:
        pending = client.submit("connect4", "4", progress=0.5)
        pending.progress = seen.append
        pending.result()
    assert len(seen) == 2


def test_answers_as_they_come(address, queue):
    async def asked(client):
        return [answer["index"] async for answer in client.answers("connect4", ["4"] * 50)]

    assert in_asyncio(asked, address) == list(range(50))
    with Client(address, timeout=SOON) as client:
        assert [answer["index"] for answer in client.submit("connect4", ["4"] * 50).answers()] == list(range(50))


def test_many_tasks(address):
    async def asked(client):
        return await asyncio.gather(*(client.search("connect4", ["4"] * n) for n in range(1, 40)))

    assert [len(answers) for answers in in_asyncio(asked, address)] == list(range(1, 40))


def test_searches_that_overlap(address):
    with Client(address, timeout=SOON) as client:
        searches = [client.submit("connect4", ["4"] * n) for n in range(1, 30)]
        for n, pending in reversed(list(enumerate(searches, 1))):
            assert len(pending.result()) == n


def test_a_cancelled_task_cancels_its_search(address, queue):
    async def asked(client):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await client.search("connect4")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.3):
                async for _ in client.answers("connect4", ["4", "44"]):
                    pass
        while len(queue.cancelled) < 2:
            await asyncio.sleep(0.01)
        queue.held = False
        return await client.search("connect4")

    queue.held = True
    assert in_asyncio(asked, address)["move"] == "d3"


def test_an_iteration_that_is_left_cancels_its_search(address, queue):
    async def asked(client):
        async with contextlib.aclosing(client.answers("connect4", ["4"] * 5000)) as answers:
            async for answer in answers:
                queue.held = True
                assert answer["index"] == 0
                break
        while not queue.cancelled:
            await asyncio.sleep(0.01)

    queue.turns = 20
    in_asyncio(asked, address)


def test_a_search_can_be_cancelled(address, queue):
    queue.held = True
    with Client(address, timeout=SOON) as client:
        pending = client.submit("connect4")
        while not queue.submitted:
            pass
        pending.cancel()
        with refused("cancelled"):
            pending.result()
        assert list(pending.answers()) == []
        while not queue.cancelled:
            pass
        queue.held = False
        assert client.search("connect4")["move"] == "d3"


def test_waiting_may_end(address, queue):
    queue.held = True
    with Client(address, timeout=0.2) as client:
        pending = client.submit("connect4")
        for wait in (pending.result, lambda: pending.result(0.01), lambda: next(pending.answers())):
            with pytest.raises(TimeoutError):
                wait()
        queue.held = False
        assert pending.result(SOON)["move"] == "d3"


def test_a_search_that_is_waited_for_no_longer_is_cancelled(address, queue):
    queue.held = True
    with Client(address, timeout=0.3) as client:
        with pytest.raises(TimeoutError):
            client.search("connect4")
        assert len(queue.submitted) == 1
        while not queue.cancelled:
            pass
        queue.held = False
        assert client.search("connect4")["move"] == "d3"


def test_refusals(address):
    async def asked(client, code, game, *position, **fields):
        with refused(code):
            await client.search(game, *position, **fields)
        return await client.search("othello")

    cases = [("bad_field", "chess", {}), ("unknown_field", "othello", {"komi": 7}), ("bad_field", "othello", {"id": 3})]
    with Client(address, timeout=SOON) as client:
        for code, game, fields in cases:
            assert in_asyncio(lambda each: asked(each, code, game, **fields), address)["move"] == "d3"  # noqa: B023
            with refused(code) as error:
                client.search(game, **fields)
        with refused("too_long"):
            client.search("othello", ["startpos" * 100] * 2000)
        assert client.search("othello")["move"] == "d3"
    assert error.value.code == "bad_field"


def test_a_closed_client_says_so(address):
    async def late():
        client = AsyncClient(address)
        with refused("closed") if HttpAddress.of(address) is None else contextlib.nullcontext():
            await client.status()  # a socket is not open before the ``async with``
        async with client:
            await client.status()
        with refused("closed"):
            await client.status()

    asyncio.run(late())
    client = Client(address)
    client.close()
    with refused("closed"):
        client.status()


def test_the_service_ends(tmp_path):
    queue = FakeDesk(held=True)
    with Serving(queue, tmp_path / "socket", DEFAULTS._replace(drain=0.1)) as serving:

        async def asked(client):
            asking = asyncio.create_task(client.search("connect4"))
            while not queue.submitted:
                await asyncio.sleep(0.01)
            serving.stop()
            with refused("cancelled"):
                await asking
            await asyncio.to_thread(serving.join)
            with refused("closed"):
                await client.status()

        in_asyncio(asked, serving.path)


@pytest.mark.parametrize("way", [Client, AsyncClient])
@pytest.mark.parametrize("wrong", ["http://", "https://localhost:1/", "http://localhost:x/", "http://[::1/"])
def test_a_url_that_cannot_be(wrong, way):
    with refused("unreachable"):
        way(wrong)


def test_nothing_is_there(tmp_path):
    async def asked():
        for address in (str(tmp_path / "nothing"), "http://127.0.0.1:9/"):
            with refused("unreachable"):
                async with AsyncClient(address) as client:
                    await client.status()

    asyncio.run(asked())
    with refused("unreachable"), Client("http://127.0.0.1:9/") as client:
        client.status()


@pytest.mark.parametrize(
    "said", [b"SSH-2.0\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n<html>", b"HTTP/1.0 502 Bad\r\n\r\n[]", b""]
)
def test_what_answers_is_something_else(said):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            for _ in range(2):
                with listener.accept()[0] as connection:
                    connection.recv(4096)
                    connection.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with refused("unreachable" if said else "closed"), Client(url, timeout=SOON) as client:
            client.search("othello")
        with refused("unreachable" if said else "closed"):
            in_asyncio(lambda client: client.search("othello"), url)
        thread.join()


def test_the_token_is_needed(address):
    if HttpAddress.of(address) is None:
        pytest.skip("a socket is the user's own")
    for wrong in (address.partition("#")[0], address[:-3] + "xyz"):
        with refused("unauthorized"), Client(wrong, timeout=SOON) as client:
            client.search("connect4")

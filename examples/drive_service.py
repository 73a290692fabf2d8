"""Start a service, send it requests from a client, and end it.

python examples/drive_service.py

A service usually runs on its own, ``mpirun -n 32 distsearch serve --socket PATH``, for clients of any language.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import distsearch


def connect(path: Path, service: subprocess.Popen) -> distsearch.Client:
    """Return a client once the service listens."""
    while service.poll() is None:
        try:
            return distsearch.Client(str(path), timeout=120)
        except distsearch.ServiceError as error:
            if error.code != "unreachable":
                raise
            time.sleep(0.1)
    raise SystemExit(f"the service has ended with status {service.returncode}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "socket"
        service = subprocess.Popen([sys.executable, "-m", "distsearch", "serve", "--socket", str(path)])
        try:
            with connect(path, service) as client:
                answer = client.search("connect4", "4453222", exact=True)  # waits for the answer
                print("4453222:", answer["move"], answer["score"])

                batch = client.submit("connect4", ["4453", "44532", "445322"], depth=10)  # does not wait
                for answer in batch.answers():  # as they come, in any order
                    print("position", answer["index"], "of the batch:", answer["move"])

                long = client.submit("othello", depth=60)
                long.cancel()
                try:
                    long.result()
                except distsearch.ServiceError as error:
                    print(error)  # cancelled: …

                try:
                    client.search("chess")
                except distsearch.ServiceError as error:
                    print("refused:", error)
        finally:
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main()

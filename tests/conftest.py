"""Options of the whole test suite: how much to run, and which random numbers to run it with."""

import gc
import random
import time

import hypothesis
import pytest

LONG = 60  # seconds of a test

# the first example of a test may have to compile its kernels
hypothesis.settings.register_profile("distsearch", deadline=None)
hypothesis.settings.load_profile("distsearch")


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run every test at its full size instead of a sample")
    parser.addoption("--seed", type=int, help="seed of the randomised tests (default: a new one from the clock)")


@pytest.hookimpl(tryfirst=True)  # before the plugins, hypothesis among them, read their options
def pytest_configure(config):
    # pytest-xdist hands the options on to its workers, so that they all have this seed
    if config.option.seed is None:
        config.option.seed = int(time.time())
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = config.option.seed
    config.addinivalue_line("markers", "full: a test that runs only with --full")
    config.addinivalue_line(
        "markers", "any_mpi: a test of tests/launch that says nothing of the MPI library; see its conftest.py"
    )


class _ShownAtOnce:
    """Shows failures, and what takes long, at once: a run with --full may be stopped before its summary."""

    def __init__(self, reporter):
        self._reporter = reporter

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self._show(report.longreprtext)
        if report.duration > LONG:
            self._show(f"{report.nodeid} took {report.duration:.0f} s")

    def _show(self, text):
        self._reporter.ensure_newline()
        self._reporter.write_line(text)


@pytest.hookimpl(trylast=True)  # when there is a terminal reporter, which workers of pytest-xdist lack
def pytest_sessionstart(session):
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if session.config.option.full and reporter is not None:
        session.config.pluginmanager.register(_ShownAtOnce(reporter))


def pytest_collection_finish():
    """Have the garbage collector leave alone what is there by now: all of it took it a tenth of the tests' time."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item):
    if item.get_closest_marker("full") and not item.config.option.full:
        pytest.skip("only with --full")


def pytest_report_header(config):
    return f"seed: {config.option.seed} (replay with --seed {config.option.seed})"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed:
        report.sections.append(("seed", f"replay with --seed {item.config.option.seed}"))
    return report


@pytest.fixture(scope="session")
def full(request):
    """Whether to run at full size (bool)."""
    return request.config.option.full


@pytest.fixture(scope="session")
def seed(request):
    """The seed of this run (int), another one every time unless --seed is given."""
    return request.config.option.seed


@pytest.fixture
def rng(seed, request):
    """A ``random.Random`` from the seed and the test's name, so that tests do not all draw the same positions."""
    return random.Random(f"{seed} {request.node.name}")

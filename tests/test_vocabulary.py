"""The field's words: names and phrases that the project has given up are used nowhere."""

import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]

# what stood for the field's word → that word
RETIRED = {
    **{"handing": "dispatch", "handover": "root_export", "loans": "offload", "lending": "offload", "lend": "offload"},
    **{"lent": "offloaded", "LEND": "OFFLOAD_REQUEST", "LENT": "OFFLOAD", "RETURNED": "OFFLOAD_RESULT"},
    **{"STEER": "SPLIT_REQUEST", "GAVE": "SPLIT", "HANDED": "EXPORT", "NAMED": "EXPORT_IDS", "gave": "on_split"},
    **{"hand_up": "export_root", "take_over": "import_children", "unnamed": "without ids", "take_back": "on_result"},
    **{"FOUND_ENTRIES": "TT_UPDATE", "KNOWN": "TT_SYNC", "SAVED": "PROGRESS", "RESUME": "RESTORE_PROGRESS"},
    **{"bell": "wakeup", "Bell": "Wakeup", "nap": "wait", "hangs": "exists", "Diary": "Timeline", "post": "mailbox"},
    **{"followers": "worker_links", "Followers": "WorkerLinks", "wishes": "job_updates", "starved": "work_wanted"},
    **{"comebacks": "max_rejoins", "hear_of_lost": "on_message_from_lost", "_welcome": "readmit"},
    **{"Member": "WorkerState", "Schedule": "SearchTree", "doubt": "irrelevance", "doubtful": "less_relevant"},
    **{"recall": "preempt", "RECALLED": "PREEMPTED", "eldest": "first_child", "grain": "min_job_seconds"},
    **{"examine": "probe_node", "weigh": "apply_entry", "rely_on": "count_hit", "SETTLED": "RESOLVED"},
    **{"pose": "init_search", "glimpse": "quick_search", "promising": "ordered_moves_slow"},
    **{"followed_up": "claimeven_bounds", "worth_playing": "non_losing_moves", "completing": "winning_squares"},
    **{"seat": "add_games", "Judge": "GpuEvaluator", "judge_of": "make_evaluator", "Merged": "AfterstateLevels"},
    **{"dealt": "apply_initial_chance", "Effort": "TuneBudget", "Tuned": "TuneResult"},
    **{"Trained": "TrainingResult", "_Begun": "TrainingState", "_Lead": "TrainingRun", "NOT_KEPT": "NO_CHECKPOINT"},
    **{"Kept": "CheckpointHandle", "Solving": "StreamSolver", "favourite": "mean_weights"},
    **{"CardTeam": "GpuTeam", "CardLearner": "GpuLearner", "by_card": "on_gpu", "exhibits": "sections"},
    **{"desk": "request_queue", "Desk": "RequestQueue", "Conversation": "ClientSession", "Ledger": "AnswerLog"},
    **{"ledger": "answer_log", "spread_evaluation": "parallel_evaluation", "complain": "print_error"},
    **{"ordering_boards": "ordering_nodes", "boards_at_work": "nodes_at_work", "all_boards": "all_nodes"},
    **{"compile_once": "compile_with_notice", "go_on": "resume", "_go_on": "_advance"},
    **{"complain_of": "print_traceback", "rehearse": "warm_up_schedule", "mark_seen": "mark_compiled"},
}
# a worker, a client or a caller is called that; "a user who" and "who wins" are English
PHRASES = re.compile(
    r"\bboards(?:/s| a second)\b|\bfewer boards\b"
    r"|\b(?:whoever|somebody|anybody|nobody|beside|(?:is|are|was|were) to be)\b"
    r"|(?<!player )(?<!user )(?<!users )(?<!readers )\bwho\b(?! wins| moves| takes)",
    re.IGNORECASE,
)
ROOMS = "distsearch", "tests", "benchmarks", "examples"


def tokens(*kinds):
    """Yield (place, text) of every token of these kinds in the project's Python files."""
    for path in (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if path != Path(__file__)):
        with io.StringIO(path.read_text(encoding="utf-8")) as file:
            for token in tokenize.generate_tokens(file.readline):
                if token.type in kinds:
                    yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


def test_no_retired_name_is_used():
    assert [f"{place}: {name} is {RETIRED[name]}" for place, name in tokens(tokenize.NAME) if name in RETIRED] == []


def test_no_retired_phrase_is_used_in_code():
    prose = tokens(tokenize.COMMENT, tokenize.STRING)
    assert [f"{place}: {found[0]}" for place, text in prose for found in PHRASES.finditer(text)] == []


def test_no_retired_phrase_is_used_in_texts_and_kernels():
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "distsearch").rglob("*.cu*")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(paths)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if PHRASES.search(line)
    ]
    assert found == []

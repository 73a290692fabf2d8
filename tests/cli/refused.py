"""Command lines that are refused, each with what the message has to name."""

from .asking import START

UNWRITABLE = ("good.txt", "exists"), ("missing/file", "No such file"), ("", "No such file")

SEARCH = "search", "othello"
SIMULATE = "simulate", "othello", "--board", "4x4", "--depth", "1"
PLAY = "play", "2048", "--depth", "1"
BOOK = "book", "connect4", "--board", "4x4"
EXPLAIN = "simulate", "othello", "--board", "4x4", "--explain"
REFUSED = [
    # commands
    ((), "COMMAND"),
    (("",), "COMMAND"),
    (("fly",), "fly"),
    (("SEARCH", "othello"), "SEARCH"),
    (("sear", "othello"), "sear"),
    (("--fly",), "--help"),
    (("search",), "GAME"),
    (("solve", "--positions", "good.txt"), "GAME"),
    (("perft", "--depth", "1"), "GAME"),
    (("simulate",), "GAME"),
    (("info", "othello"), "othello"),
    (("info", "--depth", "3"), "--depth"),
    # games
    (("search", ""), "othello"),
    (("search", "chess"), "chess", "othello"),
    (("search", "OTHELLO"), "OTHELLO"),
    (("search", "othello\n"), "othello"),
    (("search", "../othello"), "../othello"),
    (("search", "chess" * 1000), "othello"),
    (("solve", "chess", "--positions", "good.txt"), "chess"),
    (("perft", "chess", "--depth", "1"), "chess"),
    # boards
    *(
        ((*SEARCH, "--depth", "1", "--board", board), "board", "8x8")
        for board in (
            "8",
            "8x",
            "x8",
            "",
            "x",
            "8x-1",
            "8x8x8",
            "8 x 8",
            "8*8",
            "8,8",
            "8x8 ",
            "eightxeight",
            "8.0x8",
            "1e1x8",
            "٨x٨",
            "８x８",
            "8×8",
            "0x8x8",
            "9999x8",
            "8" * 5000 + "x8",
            "8x8\n",
        )
    ),
    *(
        ((*SEARCH, "--depth", "1", "--board", board), board, "4x4", "16x16")
        for board in ("0x0", "3x3", "3x8", "8x3", "17x8", "8x17", "17x17", "999x999", "0x8")
    ),
    ((*SEARCH, "--board", "-1x8"), "--board"),
    ((*SEARCH, "--board"), "--board"),
    # selective searches
    *(((*SEARCH, "--depth", "4", "--selective", text), "above 0.5 and below 1") for text in ("0.5", "2", "nan", "95")),
    ((*SEARCH, "--depth", "4", "--selective", "much"), "--selective", "much"),
    ((*SEARCH, "--depth", "4", "--selective", "-0.9"), "selective -0.9"),
    ((*SEARCH, "--exact", "--selective", "0.9"), "exact goes without selective"),
    (("solve", "othello", "--positions", "good.txt", "--selective", "0.9"), "exact goes without selective"),
    ((*SEARCH, "--depth", "4", "--algorithm", "minimax", "--selective", "0.9"), "minimax"),
    ((*SEARCH, "--depth", "4", "--ordering", "static", "--selective", "0.9"), "ordering"),
    (("search", "2048", "--depth", "3", "--selective", "0.9"), "selective", "2048"),
    (
        (*SEARCH, "--depth", "4", "--selective", "0.9", "--board", "6x6"),
        "6x6",
        "distsearch.learning.probcut_fit othello",
    ),
    (
        (*SEARCH, "--depth", "4", "--selective", "0.9", "--evaluation", "discs"),
        "discs",
        "distsearch.learning.probcut_fit",
    ),
    (("search", "connect4", "--depth", "4", "--selective", "0.9"), "connect4", "distsearch.learning.probcut_fit"),
    ((*SEARCH, "--depth", "4", "--selective", "0.9", "--probcut-params", "none.json"), "none.json", "No such file"),
    ((*SEARCH, "--depth", "4", "--selective", "0.9", "--probcut-params", "good.txt"), "good.txt", "no fit"),
    ((*SEARCH, "--depth", "4", "--probcut-params", "good.txt"), "probcut-params goes with selective"),
    # positions
    ((*SEARCH, "-" * 64), "arguments"),  # not a position: argparse takes it for an option
    ((*SEARCH, START), "16", "64"),
    ((*SEARCH, "---------------- X", "--board", "4x5"), "16", "20"),
    ((*SEARCH, START[:16], "--board", "4x4", "--"), "arguments"),
    ((*SEARCH, START[:16] + " ", "--board", "4x4"), "side"),
    ((*SEARCH, START[:16] + " Y", "--board", "4x4"), "X or O"),
    ((*SEARCH, START[:16] + " XO", "--board", "4x4"), "X or O"),
    ((*SEARCH, START[:16] + " X X", "--board", "4x4"), "X or O"),
    ((*SEARCH, START[:16] + " -", "--board", "4x4"), "X or O"),
    ((*SEARCH, "OXOXOXOXOXOXOXOXX", "--board", "4x4"), "17", "16"),
    ((*SEARCH, START.replace("O", "0"), "--board", "4x4"), "'0'"),
    ((*SEARCH, START.replace("O", "W"), "--board", "4x4"), "'W'"),
    ((*SEARCH, "X" * 100_000), "100000", "64"),
    ((*SEARCH, "z" * 100_000), "'z'"),
    ((*SEARCH, "🙂" * 64 + " X"), "'🙂'"),
    ((*SEARCH, "X" * 63 + "é X"), "'é'"),
    ((*SEARCH, "X" * 32 + "\n" + "X" * 32 + " X"), "position"),
    ((*SEARCH, "X" * 63 + "\x1b[31m X"), "'?'"),
    ((*SEARCH, "\x07"), "position"),
    ((*SEARCH, "\u202e" + "X" * 64), "position"),
    ((*SEARCH, "\udcff" * 64), "position"),
    ((*SEARCH, "start"), "position"),
    ((*SEARCH, "startpos f5"), "position"),
    ((*SEARCH, "STARTPOS"), "position"),
    ((*SEARCH, START, START, "--board", "4x4"), "arguments"),
    # transcripts
    ((*SEARCH, "a1"), "move 1", "a1", "legal"),
    ((*SEARCH, "f5f5"), "move 2", "f5", "legal"),
    ((*SEARCH, "f5d6a1"), "move 3", "a1", "legal"),
    ((*SEARCH, "pass"), "move 1", "pass", "legal"),
    ((*SEARCH, "f5pass"), "move 2", "pass", "legal"),
    ((*SEARCH, "f9"), "f9", "a1", "h8"),
    ((*SEARCH, "i1"), "i1", "h8"),
    ((*SEARCH, "p16"), "p16", "h8"),
    ((*SEARCH, "a0"), "a0", "h8"),
    ((*SEARCH, "a01"), "a01", "h8"),
    ((*SEARCH, "e5", "--board", "4x4"), "e5", "d4"),
    ((*SEARCH, "a" + "1" * 10_000), "square", "h8"),
    ((*SEARCH, "f5d"), "position"),
    ((*SEARCH, "f5 d6"), "position"),
    ((*SEARCH, "q1"), "position"),
    ((*SEARCH, "d3" * 30_000, "--board", "4x4"), "move 2"),
    # limits
    *(
        ((*SEARCH, "--depth", depth), "depth")
        for depth in ("0", "-1", "1001", "99999999999999999999", "abc", "1.5", "1e3", "", "0x10", "nan", "9" * 5000)
    ),
    *(((*SEARCH, "--time", time), "time") for time in ("0", "-1", "nan", "inf", "1e999", "abc", "", "1s", "0:05")),
    ((*SEARCH, "--time=-inf"), "time"),
    *(((*SEARCH, "--nodes", nodes), "nodes") for nodes in ("0", "-5", "x", "1e6", "1.5", "", "nan")),
    ((*SEARCH, "--depth"), "--depth"),
    # the game's own options
    ((*SEARCH, "--rule", "komi=7"), "othello has no rule komi"),
    *(((*SEARCH, "--rule", rule), "--rule", "NAME=VALUE") for rule in ("komi", "=none", "")),
    ((*SEARCH, "--rule", "empties=loser"), "winner", "none"),
    ((*PLAY, "--rule", "spawn=3:1"), "spawn"),
    ((*SEARCH, "--time"), "--time"),
    ((*SEARCH, "--nodes"), "--nodes"),
    ((*SEARCH, "--exact", "--depth", "3"), "exact", "depth"),
    ((*SEARCH, "--exact", "--time", "3"), "exact", "time"),
    ((*SEARCH, "--exact", "--nodes", "3"), "exact", "nodes"),
    ((*SEARCH, "--exact=1"), "--exact"),
    # how to search
    *(((*SEARCH, "--load-factor", factor), "load") for factor in ("0", "-1", "nan", "inf", "x", "", "100001", "1e300")),
    *(((*SEARCH, "--algorithm", name), "alphabeta", "minimax") for name in ("negascout", "", "AlphaBeta", "x" * 999)),
    *(((*SEARCH, "--policy", name), "pool") for name in ("steal", "", "Pool")),
    *(
        ((*SEARCH, "--ordering", name), "ordering", "static")
        for name in (
            "random",
            "",
            "shallow:",
            "shallow:0",
            "shallow:-1",
            "shallow:10",
            "shallow:x",
            "shallow:1.5",
            "shallow:1:2",
            "shallow 2",
            "static:2",
            "none:",
            "static:",
        )
    ),
    *(((*SEARCH, "--evaluation", name), "static", "complex", "discs") for name in ("best", "", "Static")),
    *(((*SEARCH, "--empties", rule), "winner", "none") for rule in ("loser", "", "Winner")),
    *(((*SEARCH, "--prefetch", batches), "prefetch") for batches in ("0", "-1", "1001", "x", "1.5", "")),
    # the table
    *(
        ((*SEARCH, "--table", mib), "table")
        for mib in ("0", "-3", "x", "4194305", "9" * 30, "9" * 5000, "1.5", "1e3", "", "64M", "--exact")
    ),
    ((*SEARCH, "--table"), "--table"),
    *(
        ((*SEARCH, "--table", "4", *other), "table", "alphabeta", "ordering", "nodes")
        for other in (
            ("--algorithm", "minimax"),
            ("--ordering", "static"),
            ("--ordering", "none"),
            ("--nodes", "100"),
            ("--nodes", "100", "--depth", "3"),
            ("--exact", "--algorithm", "minimax"),
        )
    ),
    (("solve", "othello", "--positions", "good.txt", "--table", "4", "--ordering", "static"), "table", "ordering"),
    (("perft", "othello", "--depth", "2", "--table", "4"), "--table"),
    # the window
    *(
        ((*SEARCH, "--exact", "--window", window), "window", "two scores")
        for window in (
            "1,-1",
            "1,1",
            "x",
            "",
            "1",
            "-1",
            "1,2,3",
            "1;2",
            "1 2",
            " 1,2",
            "1,2\n",
            "-,+",
            "1.5,2",
            "1e1,20",
            "٣,٤",
            "nan,inf",
            "-10001,0",
            "0,10001",
            "100000,200000",
            "9" * 5000,
        )
    ),
    *(((*SEARCH, "--exact", "--window", option), "--window", "expected one") for option in ("--1,1", "--exact")),
    ((*SEARCH, "--exact", "--window=1,-1"), "window 1,-1", "lower one first"),
    ((*SEARCH, "--exact", "--window"), "--window"),
    *(
        ((*SEARCH, *other, "--window", "-1,1"), "window", "exact", "alphabeta")
        for other in (
            (),
            ("--depth", "3"),
            ("--time", "1"),
            ("--nodes", "9"),
            ("--exact", "--algorithm", "minimax"),
            ("--exact", "--ordering", "static"),
        )
    ),
    (("solve", "othello", "--positions", "good.txt", "--depth", "3", "--window", "-1,1"), "window", "exact"),
    (("perft", "othello", "--depth", "2", "--window", "-1,1"), "--window"),
    # how to print
    ((*SEARCH, "--json=yes"), "--json"),
    ((*SEARCH, "--fly"), "--fly"),
    ((*SEARCH, "-d", "3"), "-d"),
    ((*SEARCH, "--fly=" + "x" * 5000), "--fly"),
    ((*SEARCH, "--positions", "good.txt"), "--positions"),
    # files of positions
    (("solve", "othello"), "stdin", "no position"),  # which is empty here
    (("solve", "othello", "--positions"), "--positions"),
    (("solve", "othello", "--positions", "missing.txt"), "missing.txt", "No such file"),
    (("solve", "othello", "--positions", ""), "No such file"),
    (("solve", "othello", "--positions", "folder"), "folder", "directory"),
    (("solve", "othello", "--positions", "good.txt/under"), "good.txt/under", "Not a directory"),
    (("solve", "othello", "--positions", "x" * 5000), "xxx", "too long"),
    (("solve", "othello", "--positions", "empty.txt"), "empty.txt", "no position"),
    (("solve", "othello", "--positions", "-"), "stdin", "no position"),
    (("solve", "othello", "good.txt"), "arguments", "good.txt"),
    (("solve", "othello", "--positions", "good.txt", "more.txt"), "more.txt"),
    (("solve", "othello", "--positions", "good.txt", "--exact", "--depth", "2"), "exact"),
    # perft
    (("perft", "othello"), "--depth"),
    *((("perft", "othello", "--depth", depth), "depth") for depth in ("-1", "33", "x", "1.5", "", "9" * 30)),
    (("perft", "othello", "--depth", "2", "--algorithm", "minimax"), "--algorithm"),
    (("perft", "othello", "--depth", "2", "--board", "3x3"), "3x3"),
    (("perft", "othello", "nowhere", "--depth", "2"), "position"),
    (("perft", "othello", START, "--depth", "1", "--board", "4x4", "--positions", "good.txt"), "--positions"),
    (("perft", "othello", "--depth", "2", "--positions", "missing.txt"), "missing.txt", "No such file"),
    (("perft", "othello", "--depth", "2", "--positions", "empty.txt"), "empty.txt", "no position"),
    # games
    (("play",), "GAME"),
    (("play", "chess", "--depth", "1"), "chess"),
    (("play", "2048", "--depth", "1", "--opponent", "random"), "opponent", "two players"),
    (("play", "2048", "--depth", "1", "--random-plies", "2"), "random-plies", "two players"),
    (("play", "2048", "--algorithm", "random", "--depth", "1"), "depth", "random"),
    (("play", "2048", "--algorithm", "averaged"), "depth"),
    (("play", "2048", "--depth", "1", "--you", "O"), "you", "player against chance"),
    (("play", "2048", "--exact"), "exact", "2048"),
    *((("play", "othello", "--you", side), "you", "X", "O") for side in ("", "3", "me")),
    (("play", "othello", "--you", "X", "--opponent", "random"), "opponent", "you"),
    (("play", "othello", "--watch", "--share", "games"), "share", "watch"),
    (("play", "othello", "--depth", "1", "--trace", "trace"), "trace", "share games"),
    (("play", "othello", "--share", "both"), "share", "games", "tree"),
    (("play", "othello", "--random-plies", "x"), "random-plies"),
    (("play", "othello", "--random-plies", "31"), "random-plies 31", "half"),
    *(
        (("play", "othello", "--opponent", text), *names)
        for text, *names in (
            ("dept=3", "dept", "did you mean depth"),
            ("depth", "depth", "needs a value"),
            ("exact=1", "exact", "no value"),
            ("depth=x", "depth", "whole number"),
            ("layers=1", "layers", "against chance"),
            ("random,depth=1", "random"),
            ("", "no option"),
        )
    ),
    (("play", "2048"), "depth", "layers"),
    ((*PLAY, "--time", "1", "--record", "games"), "record", "time"),
    *(((*PLAY, "--time", seconds), "time") for seconds in ("x", "0", "-1", "nan")),
    *(((*PLAY, "--nodes", nodes), "nodes") for nodes in ("x", "0", "1.5")),
    *(
        ((*PLAY, "--depth-by-empty", text), "depth-by-empty")
        for text in ("", "x", "3", "3:0", "3:1001", "16:3", "3:5,2:7", "2:5,2:7")
    ),
    *(
        (("play", "2048", limit, "1", "--depth-by-empty", "2:5"), "depth-by-empty goes with depth")
        for limit in ("--time", "--nodes")
    ),
    ((*PLAY, "--layers", "1"), "layers", "depth"),
    (("play", "2048", "--layers", "-1"), "layers"),
    *((("play", "2048", "--depth", depth), "depth") for depth in ("0", "-1", "1001", "x", "1.5", "")),
    *(((*PLAY, "--games", games), "games") for games in ("0", "-1", "1000001", "x", "1.5", "")),
    *(((*PLAY, "--min-probability", least), "probability") for least in ("1", "-0.1", "nan", "x")),
    *(((*PLAY, "--spawn", tiles), "spawn") for tiles in ("", "2", "3:1", "2:0.5")),
    *(((*PLAY, "--board", board), "board") for board in ("1x4", "5x5", "x")),
    *(((*PLAY, "--seed", seed), "seed") for seed in ("-1", "x", "1.5", "", "9" * 16)),
    *(
        ((*PLAY, "--record", name), "cannot write", why)
        for name, why in (*UNWRITABLE, ("folder", "exists"), ("x" * 5000, "too long"))
    ),
    ((*PLAY, "--empties", "none"), "empties"),
    ((*PLAY, "startpos"), "startpos"),
    ((*PLAY, "--checkpoint", "kept"), "--checkpoint"),
    (("search", "2048", "--depth", "1", "--seed=-1"), "seed"),
    # weights
    *(
        ((*PLAY, "--evaluation", f"rows:{weights}"), "six numbers", "FREE")
        for weights in (
            "",
            "1",
            "1,2,3,4,5",
            "1,2,3,4,5,6,7",
            "1,2,3,4,5,x",
            "1,2,3,4,5,nan",
            "1,2,3,4,5, 6",
            "1,2,3,4,5,1.2.3",
            "1,2,3,4,5,٣",
            "9" * 5000,
        )
    ),
    *(
        ((*PLAY, "--evaluation", f"rows:{weights}"), "no line may be worth more")
        for weights in ("1e9,0,0,0,0,0", "1,2,3,-1,5,2", "1,2,3,4,5,1e308", "1e999,1,1,1,1,1", "1,1,1,9,1,1")
    ),
    *(((*PLAY, "--evaluation", name), "evaluation", "rows or") for name in ("rows2:1", "free:1,2,3,4,5,6", ":", "")),
    ((*SEARCH, "--depth", "1", "--evaluation", "static:1"), "static or"),
    *(
        ((*PLAY, "--evaluation", name), "cannot read", why)
        for name, why in (
            ("missing.json", "No such file"),
            (".json", "No such file"),
            ("x" * 5000 + ".json", "too long"),
        )
    ),
    # tuning
    *((("tune", name), "games against chance") for name in ("othello", "connect4")),
    (("tune", "2048", "--time", "1"), "--time"),
    (("tune", "2048", "--evaluation", "snake"), "snake", "no weights"),
    *((("tune", "2048", "--sigma", sigma), "sigma") for sigma in ("0", "-1", "nan", "3", "x")),
    *(
        (("tune", "2048", f"--{what}", count), what)
        for what, count in (
            ("games", "0"),
            ("games", "1000001"),
            ("generations", "0"),
            ("population", "3"),
            ("population", "x"),
            ("seed", "-1"),
            ("depth", "0"),
        )
    ),
    (("tune", "2048", "--games", "100000", "--population", "11"), "11 candidates", "1000000"),
    (("tune", "2048", "--record", "good.txt"), "cannot write", "exists"),
    # boards of recorded games
    *((("match", *some), "B") for some in (("othello", "random"), ("othello",))),
    (("match", "chess", "random", "random"), "chess"),
    (("match", "othello", "dept=4", "random"), "dept", "did you mean depth"),
    (("match", "othello", "random", "depth=4,evaluation=nothing"), "nothing"),
    (("match", "othello", "random", "random", "--sprt", "x"), "sprt", "0,10"),
    (("match", "othello", "random", "random", "--openings", "missing"), "missing", "No such file"),
    (("match", "othello", "random", "random", "--openings", "empty.txt"), "empty.txt", "no position"),
    (("match", "2048", "random", "random", "--sprt", "0,5"), "sprt", "two players"),
    (("match", "othello", "random", "random", "--share", "x"), "share", "games", "tree"),
    (("match", "othello", "random", "random", "--games", "0"), "games 0"),
    (("match", "othello", "random", "random", "--depth", "3"), "--depth"),
    (("replay", "good.txt"), "good.txt line 1", "JSON"),
    (("replay", "empty.txt"), "empty.txt", "no game"),
    (("replay", "folder"), "folder", "directory"),
    (("sample", "2048", "--class", "late"), "--record"),
    (("sample", "2048", "--record", "good.txt"), "--class"),
    (("sample", "2048", "--record", "good.txt", "--class", "early"), "starter", "normal", "late"),
    (("sample", "2048", "--record", "good.txt", "--class", "late"), "good.txt line 1", "JSON"),
    (("sample", "2048", "--record", "empty.txt", "--class", "late"), "empty.txt", "no game"),
    (("sample", "2048", "--record", "missing", "--class", "late"), "missing", "No such file"),
    *(
        (("sample", "2048", "--record", "good.txt", "--class", "late", "--count", count), "count")
        for count in ("0", "-1", "1000001", "x")
    ),
    # a virtual cluster
    *(((*SIMULATE, "--workers", workers), "workers") for workers in ("0", "-1", "100001", "x", "1.5", "")),
    *(((*SIMULATE, "--workers", "4", "--hosts", hosts), "hosts") for hosts in ("0", "5", "x", "")),
    *(((*SIMULATE, "--workers", "4", "--submasters", count), "submasters") for count in ("-1", "5", "x", "")),
    ((*SIMULATE, "--workers", "4", "--hosts", "2", "--submasters", "1"), "submasters", "hosts"),
    *((("search", "othello", "--depth", "2", "--submasters", count), "submasters") for count in ("1", "-1", "x")),
    *(((*SIMULATE, "--network", network), "network", "host", "tcp") for network in ("", "ether", "TCP")),
    *(
        ((*SIMULATE, option, value), option[2:])
        for value in ("-1", "nan", "inf", "x")
        for option in ("--latency", "--delay", "--spread", "--jitter", "--message-cost", "--bandwidth", "--rate")
    ),
    ((*SIMULATE, "--bandwidth", "0"), "bandwidth"),
    ((*SIMULATE, "--rate", "0"), "rate"),
    *(((*SIMULATE, "--seed", seed), "seed") for seed in ("x", "1.5", "")),
    *(((*EXPLAIN, *limit), "explain", "depth or exact") for limit in ((), ("--time", "1"), ("--nodes", "1000"))),
    *(
        ((*EXPLAIN, "--depth", "2", *plain), "explain", "table")
        for plain in (("--algorithm", "minimax"), ("--ordering", "static"))
    ),
    (("simulate", "2048", "--depth", "2", "--explain"), "explain", "two players"),
    (("search", "othello", "--depth", "2", "--explain"), "--explain"),
    # opening books
    ((*BOOK, "--make", "new"), "--make FILE with --plies N"),
    ((*BOOK, "--plies", "2"), "--make FILE with --plies N"),
    ((*BOOK, "--make", "new", "--plies", "2", "--check"), "--check"),
    *(((*BOOK, "--make", "new", "--plies", plies), "plies") for plies in ("0", "-1", "21", "x", "")),
    ((*BOOK, "--make", "good.txt", "--plies", "2"), "good.txt", "exists"),
    ((*BOOK, "--make", "missing/new", "--plies", "2"), "cannot write", "No such file"),
    (BOOK, "no book of connect4 4x4", "--make"),
    ((*BOOK, "--check"), "no book of connect4 4x4", "--make"),
    *(((*BOOK, *more, "--book", "good.txt"), "good.txt is not a file of opening books") for more in ((), ("--check",))),
    ((*BOOK, "--book", "missing"), "missing", "No such file"),
    (("book", "othello", "--make", "new.npz", "--positions", "9", "--table", "4"), "table", "--positions"),
    (("book", "2048"), "2048", "two players"),
    (("search", "connect4", "--book", "good.txt"), "good.txt is not a file of opening books"),
    (("solve", "connect4", "--positions", "good.txt", "--book", "missing"), "missing", "No such file"),
    (("play", "connect4", "--depth", "2", "--book", "missing"), "missing", "No such file"),
    (("play", "2048", "--depth", "1", "--book", "good.txt"), "good.txt is not a file of opening books"),
    (("match", "connect4", "depth=1", "random", "--book", "good.txt"), "good.txt is not a file of opening books"),
    *(
        (("search", "connect4", *limit, "--book", "good.txt"), "book goes with")
        for limit in (("--depth", "4"), ("--nodes", "9"), ("--exact", "--window=-1,1"), ("--ordering", "static"))
    ),
    (("search", "connect4", "--trace", "new", "--book", "good.txt"), "book goes with"),
    (("search", "2048", "--depth", "1", "--book", "good.txt"), "book goes with"),
    # bench
    (("solve", "2048", "--depth", "1", "--check"), "check", "2048"),
    *(
        (("solve", *asked, "--obf", "--positions", "good.txt"), "obf", "exact", "othello")
        for asked in (("connect4",), ("othello", "--depth", "1"), ("othello", "--window", "-1,1"))
    ),
    # serve
    (("serve", "--checkpoints", ""), "checkpoints", "empty"),
    (("serve", "--checkpoints", "good.txt"), "cannot make good.txt", "exists"),
    (("serve", "--checkpoints", "/proc"), "cannot write /proc"),
    # for other programs
    *(
        ((program, *asked), word)
        for program in ("nboard", "gtp")
        for asked, word in (
            (("othello",), "othello"),
            (("--depth", "0"), "depth"),
            (("--evaluation", "nothing"), "nothing"),
            (("--exact", "--depth", "3"), "exact"),
            (("--layers", "1"), "--layers"),
            (("--book", "missing"), "missing"),
            (("--table", "4", "--ordering", "static"), "table"),
        )
    ),
    (("bench", "othello"), "othello", "--positions"),
    (("bench", "--positions", "good.txt"), "game"),
    (("bench", "--messages", "othello", "--positions", "good.txt"), "exclude each other"),
    (("bench", "2048", "--depth", "1", "--positions", "missing.txt"), "missing.txt", "No such file"),
    (("bench", "--messages"), "two ranks"),
    (("bench", "--messages", "--prefetch", "x"), "prefetch"),
]

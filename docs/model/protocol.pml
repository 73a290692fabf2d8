/* A master and its workers, as distsearch/cluster and distsearch/tree/schedule.py have them; README.md has the map.
 *
 * One run of one Schedule. The tree: positions 1 and 6 wait at first. Whoever searches 1 may give 3 away and keep 2,
 * whoever searches 2 may give 5 away and keep 4; 0 is no position. A window is NARROW or WIDE, 0 is none; what is known
 * of a position is the window that it was searched in to the end. How far a search is, scores and moves are left out:
 * a search may end, or have a part to give, whenever it is at work.
 */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef PREFETCH
#define PREFETCH 2 /* jobs at a worker */
#endif
#ifndef CHANGES
#define CHANGES 2 /* of questions, whoever makes them: asked no more, less or again */
#endif
#ifndef ASKS
#define ASKS 1 /* for a part */
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef SUSPICIONS
#define SUSPICIONS 0 /* of workers that live */
#endif
#define NUMBERS 6 /* that jobs can have; that these are enough is checked */
#define NO NUMBERS /* no number */
#define ROOM 8 /* of a channel: none ever blocks, as is checked */
#define POSITIONS 7

#define NARROW 1
#define WIDE 2

mtype = { OPEN, JOBS, JOB_UPDATE, STOP, END, RESET, RESULTS, SPLIT, STOPPED, PONG, RESET_DONE }

chan down[WORKERS] = [ROOM] of { mtype, byte, byte, byte } /* kind; job or life; position or rest; window, 0: drop it */
chan up[WORKERS] = [ROOM] of { mtype, byte, byte, byte, byte } /* the same, 0: it is not complete; the sender's life */

byte deaths = DEATHS;
bit dead[WORKERS]; /* the process is no more */

/* The tree: c[STATUS], the question (c[ALPHA] to c[BETA]) and what is known (c[LOW] and c[HIGH]). */
#define ABSENT 0
#define WAITING 1
#define SENT 2
#define GROWN 3
#define keeps(i) ((i) == 1 -> 2 : ((i) == 2 -> 4 : 0))
#define gives(i) (keeps(i) + 1)
#define is_asked(i) (question[i] > known[i])
byte status[POSITIONS], question[POSITIONS], known[POSITIONS];

/* Schedule._jobs and _free. */
byte job_node[NUMBERS], job_window[NUMBERS], job_worker[NUMBERS], job_rest[NUMBERS];
bit dropped[NUMBERS], used[NUMBERS];

/* master._Run and master._Worker. */
byte out[WORKERS]; /* _Run.out: jobs sent and not answered */
bit told[WORKERS]; /* in _Run.out: told of the run by OPEN */
bit stopping[WORKERS];
bit lost[WORKERS]; /* in Master._absent */
byte life[WORKERS]; /* RESTARTs that a worker was sent: Master._lives */
bit restarting[WORKERS]; /* the last of them is not answered: _Worker.life */
bit starved = 1, ended;

/* ---- the worker ---- */

#define at_work mine[0]

/* The first of a worker's jobs is no more, and the wish with it. */
inline next_job() {
    mine[0] = mine[1]; mine_node[0] = mine_node[1]; mine_window[0] = mine_window[1];
#ifdef MUTANT_WISH_STAYS
    if
    :: wish[1] != NO -> wish[0] = wish[1]; wish[1] = NO
    :: else
    fi;
#else
    wish[0] = wish[1]; wish[1] = NO;
#endif
    mine[1] = NO; mine_node[1] = 0; mine_window[1] = 0
}

inline say(type, job, node, range) {
    assert(len(up[me]) < ROOM);
    up[me]!type, job, node, range, my_life
}

inline forget_all() {
    mine[0] = NO; mine_node[0] = 0; mine_window[0] = 0; wish[0] = NO;
    mine[1] = NO; mine_node[1] = 0; mine_window[1] = 0; wish[1] = NO
}

proctype worker(byte me) {
    byte mine[2], mine_node[2], mine_window[2], wish[2]; /* [0]: at work, [1]: queued; wish: _Run.wishes */
    byte my_life, n, x, window, k;
    bit knows; /* the run is in Worker._runs */
    mtype kind;
    d_step { forget_all() }
end:
    do
    :: atomic { down[me]?kind, n, x, window -> /* Worker.handle */
        d_step {
            if
            :: dead[me]
            :: !dead[me] && kind == OPEN -> assert(!knows); knows = 1
            :: !dead[me] && kind == JOBS -> /* _queue */
                assert(knows && mine[PREFETCH - 1] == NO);
                k = (mine[0] == NO -> 0 : 1);
                mine[k] = n; mine_node[k] = x; mine_window[k] = window
            :: !dead[me] && kind == JOB_UPDATE -> /* _steer, _steer_queued */
                assert(knows);
                k = (mine[0] == n -> 0 : (mine[1] == n -> 1 : NO));
#ifdef MUTANT_NAME_UNCHECKED
                k = (mine[0] == NO -> NO : 0);
#endif
                if
                :: k == NO /* it has been answered, or goes on under another number */
                :: k != NO && window == 0 -> /* dropped: _finish or unsearched */
                    say(RESULTS, mine[k], mine_node[k], 0);
                    if
                    :: k == 0 -> next_job()
                    :: else -> mine[1] = NO; mine_node[1] = 0; mine_window[1] = 0; wish[1] = NO
                    fi
                :: k != NO && window != 0 ->
                    assert(window <= mine_window[k]); /* windows only become narrower */
                    mine_window[k] = window;
                    if
                    :: x != NO -> wish[k] = x
                    :: else
                    fi
                fi
            :: !dead[me] && kind == STOP -> /* _stop */
                assert(knows);
                if
                :: at_work != NO -> say(RESULTS, at_work, mine_node[0], 0)
                :: else
                fi;
                forget_all();
                say(STOPPED, 0, 0, 0)
            :: !dead[me] && kind == END -> assert(knows && at_work == NO); knows = 0
            :: !dead[me] && kind == RESET -> /* every run and job is forgotten */
                knows = 0;
                forget_all();
                my_life = n;
                say(RESET_DONE, my_life, 0, 0)
            fi;
            kind = 0; n = 0; x = 0; window = 0; k = 0
        } }
    :: atomic { !dead[me] && at_work != NO -> /* Worker.work, to the end of a job: _finish */
        d_step { say(RESULTS, at_work, mine_node[0], mine_window[0]); next_job() } }
    :: atomic { !dead[me] && at_work != NO && wish[0] != NO && keeps(mine_node[0]) -> /* Worker._give */
        d_step {
            say(SPLIT, at_work, wish[0], mine_window[0]);
            at_work = wish[0]; wish[0] = NO;
            mine_node[0] = keeps(mine_node[0])
        } }
    :: atomic { !dead[me] && lost[me] && !restarting[me] && at_work == NO && empty(up[me]) ->
        say(PONG, 0, 0, 0) } /* sooner or later, a message comes from everybody who lives */
    :: atomic { !dead[me] && deaths > 0 && !ended -> d_step { deaths--; dead[me] = 1; knows = 0; forget_all() } }
    od
}

/* ---- the master ---- */

inline tell(rank, type, job, node, range) {
    assert(len(down[rank]) < ROOM && !lost[rank]);
    down[rank]!type, job, node, range
}

/* Schedule._number: the one that was freed last is the next; here the lowest. */
inline number(fresh) {
    fresh = 0;
    do
    :: fresh < NUMBERS && used[fresh] -> fresh++
    :: else -> break
    od;
    assert(fresh < NUMBERS);
    used[fresh] = 1
}

inline free(name) { assert(used[name]); used[name] = 0 }

inline sent(job, node, range, rank) { /* handing.sent */
    status[node] = SENT;
    assert(job_node[job] == 0 && used[job]);
    job_node[job] = node; job_window[job] = range; job_worker[job] = rank; dropped[job] = 0; job_rest[job] = NO
}

inline forget(job) { /* Schedule._forget */
    job_node[job] = 0; job_window[job] = 0; job_worker[job] = 0; dropped[job] = 0;
    if
    :: job_rest[job] != NO ->
#ifndef MUTANT_REST_KEPT
        free(job_rest[job]);
#endif
        job_rest[job] = NO
    :: else
    fi;
#ifdef MUTANT_FREED_EARLY
    used[job] = 0
#else
    free(job)
#endif
}

inline count_waiting() { /* Schedule.waiting */
    waiting = 0;
    for (i : 1 .. POSITIONS - 1) {
        waiting = waiting + (status[i] == WAITING && is_asked(i))
    }
}

inline is_over() { /* Schedule.done */
    over = 1;
    for (i : 1 .. POSITIONS - 1) {
        over = over && !((status[i] == WAITING || status[i] == SENT) && is_asked(i))
    }
}

inline top_up(rank, most) { /* Master._top_up and Schedule.take */
    count_waiting();
    if
    :: out[rank] > most - 1 || out[rank] > 0 && waiting == 0 -> more = 0
    :: else ->
        if
        :: waiting == 0 -> starved = 1; more = 0
        :: else ->
            i = 1;
            do
            :: status[i] == WAITING && is_asked(i) -> break
            :: else -> i++
            od;
            number(n);
            sent(n, i, question[i], rank);
            if
            :: !told[rank] -> told[rank] = 1; tell(rank, OPEN, 0, 0, 0)
            :: else
            fi;
            tell(rank, JOBS, n, i, question[i]);
            out[rank]++;
            more = 1
        fi
    fi
}

inline hand_out() { /* Master._hand_out */
    if
    :: !starved && lost[sender]
    :: !starved && !lost[sender] ->
        do
        :: more = 0; top_up(sender, PREFETCH);
            if
            :: !more -> break
            :: else
            fi
        od
    :: else ->
        starved = 0;
        level = 1;
        do
        :: level <= PREFETCH && !starved ->
            for (w : 0 .. WORKERS - 1) {
                if
                :: !lost[w] -> top_up(w, level)
                :: else
                fi
            }
            level++
        :: else -> break
        od
    fi
}

#ifdef MUTANT_UNWANTED_REST
bit forgotten[NUMBERS]; /* a rest that nobody wants any more when its SPLIT comes: Stream.gave once did without it */
#define is_forgotten(n) forgotten[n]
#else
#define is_forgotten(n) false
#endif

inline wishes() { /* Schedule.wishes and handing.next_wish: what has changed of jobs that are out */
    for (n : 0 .. NUMBERS - 1) {
        i = job_node[n];
        if
        :: i == 0 || dropped[n] || is_forgotten(n)
        :: i && !dropped[n] && !is_forgotten(n) && !is_asked(i) ->
            tell(job_worker[n], JOB_UPDATE, n, NO, 0);
            dropped[n] = 1;
#ifdef MUTANT_FREED_EARLY
            used[n] = 0
#endif
        :: i && !dropped[n] && is_asked(i) && question[i] < job_window[n] ->
            job_window[n] = question[i];
            tell(job_worker[n], JOB_UPDATE, n, NO, job_window[n])
        :: else
        fi
    }
}

inline wind_up() { /* Master._wind_up */
    more = 0;
    for (w : 0 .. WORKERS - 1) {
        if
        :: out[w] && !stopping[w] -> stopping[w] = 1; tell(w, STOP, 0, 0, 0)
        :: else
        fi;
        more = more || stopping[w]
    }
    if
    :: !more ->
        for (w : 0 .. WORKERS - 1) {
            if
            :: told[w] -> tell(w, END, 0, 0, 0)
            :: else
            fi
        }
        ended = 1
    :: else
    fi
}

/* What holds between two events. */
inline check() {
    for (w : 0 .. WORKERS - 1) {
        level = 0;
        for (n : 0 .. NUMBERS - 1) {
            level = level + (job_node[n] && job_worker[n] == w)
        }
        assert(over || level == out[w]); /* master and schedule agree on who has how many jobs */
        assert(over || starved || lost[w] || out[w]) /* nobody without a job is passed over for ever */
    }
    level = 0;
    for (n : 0 .. NUMBERS - 1) {
        level = level + used[n] - (job_node[n] != 0) - (job_rest[n] != NO);
        assert(!job_node[n] || used[n] && status[job_node[n]] == SENT && !lost[job_worker[n]]);
        assert(over || !job_node[n] || dropped[n] || is_asked(job_node[n])) /* nobody is at work for nothing */
    }
    assert(level == 0) /* every number is a job's, or kept for a rest, or free */
}

inline go_on() { /* Master._go_on */
    is_over();
    if
    :: ended
    :: !ended && ignored
    :: !ended && !ignored && over -> wind_up()
    :: !ended && !ignored && !over -> hand_out(); wishes()
    fi;
    check()
}

inline finish() { /* Master._take_in, Schedule.finish, handing.take_in */
    i = job_node[n];
    assert(used[n] && i && i == x && job_worker[n] == sender); /* it is the job that it says it is */
    out[sender]--;
    if
    :: window -> /* complete */
        assert(window >= job_window[n]); /* searched no less than the master takes for known */
        assert(job_window[n] > known[i]); /* and nobody else has answered it */
        known[i] = job_window[n]
    :: else -> assert(dropped[n] || stopping[sender])
    fi;
#ifdef MUTANT_ASKED_AGAIN
    status[i] = (window -> WAITING : SENT);
#else
    status[i] = WAITING;
#endif
    forget(n)
}

inline gave() { /* Schedule.gave, handing.adopted */
    i = job_node[n];
    more = is_asked(i);
    assert(used[n] && i && keeps(i) && job_worker[n] == sender && job_rest[n] == x && window >= job_window[n]);
    status[i] = GROWN;
    question[keeps(i)] = (more -> question[i] : 0); /* asking.pass_on */
    question[gives(i)] = question[keeps(i)];
    status[gives(i)] = WAITING;
    job_rest[n] = NO;
#ifdef MUTANT_REST_NOT_TAKEN_OVER
    status[keeps(i)] = WAITING;
    out[sender]--;
    free(x);
#else
    sent(x, keeps(i), window, sender);
#endif
#ifdef MUTANT_UNWANTED_REST
    forgotten[x] = !more;
#endif
    forget(n);
    starved = 1
}

inline lose(rank) { /* event Lost(rank): Master._lose, Schedule.lost */
    lost[rank] = 1;
    for (n : 0 .. NUMBERS - 1) {
        if
        :: job_node[n] && job_worker[n] == rank ->
#ifndef MUTANT_LOST_FOR_GOOD
            status[job_node[n]] = WAITING;
#endif
            forget(n)
        :: else
        fi
    }
    out[rank] = 0; told[rank] = 0; stopping[rank] = 0;
    starved = 1;
    ended = 1; /* EveryWorkerLostError, unless somebody is left */
    for (w : 0 .. WORKERS - 1) {
        ended = ended && lost[w]
    }
}

#ifdef MUTANT_LATE_ANSWERS
#define is_ignored (lost[sender] && !(kind == RESULTS && used[n] && job_node[n]))
#else
#define is_ignored lost[sender]
#endif
#ifdef MUTANT_NOT_RESTARTED
#define is_restarted true
#else
#define is_restarted (kind == RESET_DONE && restarting[sender] && n == life[sender])
#endif

inline received() { /* Master._received */
    if
    :: is_ignored && is_restarted -> /* _welcome, and then _ready */
        lost[sender] = 0; restarting[sender] = 0; starved = 1
    :: is_ignored && !is_restarted && !restarting[sender] ->
        ignored = 1;
        restarting[sender] = 1; life[sender]++;
        assert(len(down[sender]) < ROOM);
        down[sender]!RESET, life[sender], 0, 0
    :: !is_ignored ->
        assert(was == life[sender]); /* nothing from before a RESET */
        if
        :: kind == RESULTS -> finish()
        :: kind == SPLIT -> gave()
        :: kind == STOPPED -> out[sender] = 0; stopping[sender] = 0
        :: kind == PONG -> ignored = 1
        fi
    :: else -> ignored = 1
    fi
}

/* Jobs that a part may be asked of: all, where somebody has none. */
#define may_ask(job) (job_node[job] && !dropped[job] && job_rest[job] == NO)

inline perhaps_ask() { /* the second half of Schedule.wishes */
    if
    :: asks == 0 || over || !starved
    :: asks > 0 && !over && starved ->
        if /* handing.largest */
        :: may_ask(0) -> x = 0
        :: may_ask(1) -> x = 1
        :: may_ask(2) -> x = 2
        :: may_ask(3) -> x = 3
        :: x = NO
        fi;
        d_step {
            if
            :: x != NO ->
                asks--;
                number(n);
                job_rest[x] = n;
                tell(job_worker[x], JOB_UPDATE, x, n, job_window[x])
            :: else
            fi;
            n = 0; x = 0
        }
    fi
}

active proctype master() {
    byte changes = CHANGES, asks = ASKS, suspicions = SUSPICIONS;
    byte sender, i, n, w, x, window, was, waiting;
    short level;
    bit over, more, ignored;
    mtype kind;
    d_step {
        for (n : 0 .. NUMBERS - 1) {
            job_rest[n] = NO
        }
        status[1] = WAITING; question[1] = WIDE;
        status[6] = WAITING; question[6] = WIDE;
        go_on()
    }
    atomic {
        perhaps_ask();
        run worker(0); run worker(1);
#if WORKERS > 2
        run worker(2)
#endif
    }
    do
    :: atomic { /* one event, and what follows from it: Master.handle */
        if
        :: up[0]?kind, n, x, window, was -> sender = 0
        :: up[1]?kind, n, x, window, was -> sender = 1
#if WORKERS > 2
        :: up[2]?kind, n, x, window, was -> sender = 2
#endif
        :: changes > 0 && !over -> /* asking.improved, and all that it leads to */
            changes--;
            kind = JOB_UPDATE;
            if
            :: n = 1 :: n = 2 :: n = 3 :: n = 4 :: n = 5 :: n = 6
            fi;
            if
            :: window = 0 :: window = NARROW :: window = WIDE
            fi
        :: !lost[0] && (dead[0] || suspicions) -> sender = 0; kind = RESET
        :: !lost[1] && (dead[1] || suspicions) -> sender = 1; kind = RESET
#if WORKERS > 2
        :: !lost[2] && (dead[2] || suspicions) -> sender = 2; kind = RESET
#endif
        fi;
        d_step {
            if
            :: kind == JOB_UPDATE && (status[n] == ABSENT || status[n] == GROWN) /* no question of its own */
            :: kind == JOB_UPDATE && !(status[n] == ABSENT || status[n] == GROWN) -> question[n] = window
            :: kind == RESET ->
                suspicions = suspicions - !dead[sender];
                lose(sender)
            :: else -> received()
            fi;
            go_on();
            sender = 0; i = 0; n = 0; w = 0; x = 0; window = 0; was = 0; level = 0; waiting = 0; more = 0; ignored = 0;
            kind = 0
        }
        if
        :: ended -> break
        :: else -> perhaps_ask()
        fi }
    od
}

#ifdef LIVENESS
ltl ends { <> ended }
#endif

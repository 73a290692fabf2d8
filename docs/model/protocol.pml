/* A master and its workers, as in distsearch/cluster and distsearch/tree; README.md has the map.
 *
 * One run of one SearchTree. The tree: positions 1 and 6 wait at first. The search of 1 may be split: 3 is split off,
 * and the worker keeps 2. So may that of 2: 5 is split off, and the worker keeps 4. 0 is no position. A window is
 * NARROW or WIDE, 0 is none; what is known of a position is the window that it was searched in to the end. Progress,
 * scores and moves are left out: a search may end, or be split, whenever it is at work. Worker 0 may be one that
 * offloads parts of its job (OFFLOADS), or a sub-master (EXPORTS), but not both.
 */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef PREFETCH
#define PREFETCH 2 /* jobs at a worker */
#endif
#ifndef CHANGES
#define CHANGES 2 /* of questions: closed, narrower, or open again */
#endif
#ifndef SPLITS
#define SPLITS 1 /* that may be requested */
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef SUSPICIONS
#define SUSPICIONS 0 /* of workers that live */
#endif
#ifndef OFFLOADS
#define OFFLOADS 0 /* parts that worker 0 may offload, up to 2 */
#endif
#ifndef EXPORTS
#define EXPORTS 0 /* roots that sub-master 0 may export */
#endif
#ifndef FAILURES
#define FAILURES 0 /* of workers at a job */
#endif
#ifndef HALTS
#define HALTS 0 /* by the user */
#endif
#define OWNER 0
#define SUBMASTER 0
#define IDS 6 /* that jobs can have; it is checked that these are enough */
#define NO IDS /* no id */
#define ROOM 8 /* of a channel: none ever blocks, as is checked */
#define FIRST_PART 7 /* positions from here on are roots for offloaded parts */
#if OFFLOADS > 0
#define POSITIONS 9
#else
#define POSITIONS 7
#endif

#define NARROW 1
#define WIDE 2

mtype = { OPEN, JOBS, JOB_UPDATE, STOP, END, RESET, RESULTS, SPLIT, STOPPED, PONG, RESET_DONE, FAILED,
          OFFLOAD, OFFLOAD_RESULT, EXPORT, EXPORT_IDS }

chan down[WORKERS] = [ROOM] of { mtype, byte, byte, byte } /* kind; job or epoch; position or remainder; window, 0: drop it */
chan up[WORKERS] = [ROOM] of { mtype, byte, byte, byte, byte } /* the same, 0: it is not complete; the sender's epoch */

byte deaths = DEATHS, failures = FAILURES, offloads = OFFLOADS, exports = EXPORTS;
bit dead[WORKERS]; /* the process is no more */

/* The tree: c[STATUS], the question (c[ALPHA] to c[BETA]) and what is known (c[LOW] and c[HIGH]). */
#define ABSENT 0
#define WAITING 1
#define SENT 2
#define GROWN 3
#define keeps(i) ((i) == 1 -> 2 : ((i) == 2 -> 4 : 0))
#define splits_off(i) (keeps(i) + 1)
#define is_asked(i) (question[i] > known[i])
byte status[POSITIONS], question[POSITIONS], known[POSITIONS];

/* SearchTree._jobs, and its row FREE_LIST. */
byte job_node[IDS], job_window[IDS], job_worker[IDS], job_remainder[IDS];
bit dropped[IDS], used[IDS];

/* Offloads: the parts that are out. In the code a part has one number that is never used again; here it has a place, 0
   or 1, and a serial number. */
byte part_at[2]; /* by place: the part's position, 0: it is not out */
byte part_job[2]; /* of which it is a part */
byte held[2]; /* by position: the serial number of the latest part there */
#define content(i) ((i) < FIRST_PART -> (i) : FIRST_PART - 1 + held[(i) - FIRST_PART]) /* what a job is about */

/* MasterRun and WorkerState. */
byte out[WORKERS]; /* MasterRun.out: jobs sent and not answered */
bit told[WORKERS]; /* in MasterRun.out: it knows the run by OPEN */
bit stopping[WORKERS];
bit lost[WORKERS]; /* in WorkerRegistry.absent */
byte epoch[WORKERS]; /* RESETs that a worker was sent: WorkerState.epoch */
bit resetting[WORKERS]; /* the last of them is not answered */
bit work_wanted = 1, ended, halted;

/* ---- the worker ---- */

#define at_work mine[0]

/* The first of a worker's jobs has ended, and the split request with it. */
inline next_job() {
    mine[0] = mine[1]; mine_node[0] = mine_node[1]; mine_window[0] = mine_window[1];
#ifdef MUTANT_REQUEST_STAYS
    if
    :: request[1] != NO -> request[0] = request[1]; request[1] = NO
    :: else
    fi;
#else
    request[0] = request[1]; request[1] = NO;
#endif
    mine[1] = NO; mine_node[1] = 0; mine_window[1] = 0;
    offered[0] = 0; offered[1] = 0
}

inline say(type, job, node, range) {
    assert(len(up[me]) < ROOM);
    up[me]!type, job, node, range, my_epoch
}

inline forget_all() {
    mine[0] = NO; mine_node[0] = 0; mine_window[0] = 0; request[0] = NO;
    mine[1] = NO; mine_node[1] = 0; mine_window[1] = 0; request[1] = NO;
    offered[0] = 0; offered[1] = 0; exported = NO; kept_node = 0; kept_window = 0; stops = 0
}

inline stop_work() { /* Worker._stop; a sub-master that has ended a run */
    if
    :: at_work != NO -> say(RESULTS, at_work, mine_node[0], 0)
    :: else
    fi;
    forget_all();
    say(STOPPED, 0, 0, 0)
}

#ifdef MUTANT_PART_NUMBER_AGAIN
#define next_part 0
#else
#define next_part (OFFLOADS - offloads)
#endif
#ifdef MUTANT_STOPPED_WITHOUT_IDS
#define waits_for_ids false
#else
#define waits_for_ids (exported != NO)
#endif

proctype worker(byte me) {
    byte mine[2], mine_node[2], mine_window[2], request[2]; /* [0]: at work, [1]: queued; request: Run.split_requests */
    byte offered[2]; /* serial numbers of parts that are offloaded, by place; 0: none */
    byte exported, kept_node, kept_window; /* a job that was exported, and its child that goes on here without an id */
    bit stops; /* a STOP waits for that id */
    byte my_epoch, n, x, window, k;
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
            :: !dead[me] && kind == JOB_UPDATE -> /* _update_jobs, update_queued */
                assert(knows);
                k = (mine[0] == n -> 0 : (mine[1] == n -> 1 : NO));
#ifdef MUTANT_ID_UNCHECKED
                k = (mine[0] == NO -> NO : 0);
#endif
                if
                :: k == NO /* it has been answered, or goes on under another id */
                :: k != NO && window == 0 -> /* dropped: _finish or unsearched */
                    say(RESULTS, mine[k], mine_node[k], 0);
                    if
                    :: k == 0 -> next_job()
                    :: else -> mine[1] = NO; mine_node[1] = 0; mine_window[1] = 0; request[1] = NO
                    fi
                :: k != NO && window != 0 ->
                    assert(window <= mine_window[k]); /* windows only become narrower */
                    mine_window[k] = window;
                    if
                    :: x != NO -> request[k] = x
                    :: else
                    fi
                fi
            :: !dead[me] && kind == STOP -> /* _stop */
                assert(knows);
                if
                :: waits_for_ids -> stops = 1
                :: else -> stop_work()
                fi
            :: !dead[me] && kind == OFFLOAD_RESULT ->
                assert(knows && (!offered[n] || offered[n] == x)); /* of the part that it says, or one that has ended */
                offered[n] = 0
            :: !dead[me] && kind == EXPORT_IDS -> /* SubmasterTrees.assign_ids */
                assert(knows && mine[PREFETCH - 1] == NO);
                k = (mine[0] == NO -> 0 : 1);
                mine[k] = x; mine_node[k] = kept_node; mine_window[k] = kept_window;
                exported = NO; kept_node = 0; kept_window = 0;
                if
                :: stops -> stop_work()
                :: else
                fi
            :: !dead[me] && kind == END -> assert(knows && at_work == NO); knows = 0
            :: !dead[me] && kind == RESET -> /* every run and job is forgotten */
                knows = 0;
                forget_all();
                my_epoch = n;
                say(RESET_DONE, my_epoch, 0, 0)
            fi;
            kind = 0; n = 0; x = 0; window = 0; k = 0
        } }
    :: atomic { !dead[me] && at_work != NO -> /* Worker.work, to the end of a job: _finish */
        d_step { say(RESULTS, at_work, mine_node[0], mine_window[0]); next_job() } }
    :: atomic { !dead[me] && at_work != NO && request[0] != NO && keeps(mine_node[0]) &&
                !(EXPORTS && me == SUBMASTER || OFFLOADS && me == OWNER) -> /* Worker._split */
        d_step {
            say(SPLIT, at_work, request[0], mine_window[0]);
            at_work = request[0]; request[0] = NO;
            mine_node[0] = keeps(mine_node[0])
        } }
    :: atomic { !dead[me] && lost[me] && !resetting[me] && at_work == NO && empty(up[me]) ->
        say(PONG, 0, 0, 0) } /* every living worker sends a message sooner or later */
    :: atomic { !dead[me] && me == SUBMASTER && exports > 0 && at_work != NO && request[0] != NO && keeps(mine_node[0]) &&
                exported == NO && !stops -> /* SubmasterTrees.exports */
        d_step {
            exports--;
            say(EXPORT, at_work, mine_node[0], mine_window[0]);
            exported = at_work; kept_node = keeps(mine_node[0]); kept_window = mine_window[0];
            next_job()
        } }
    :: atomic { !dead[me] && me == OWNER && at_work != NO && offloads > 0 && !offered[next_part] -> /* new_offloads */
        d_step {
            k = next_part;
            offered[k] = OFFLOADS + 1 - offloads;
            offloads--;
            say(OFFLOAD, at_work, k, offered[k]);
            k = 0
        } }
    :: atomic { !dead[me] && offered[0] -> d_step { offered[0] = 0; say(OFFLOAD, 0, 0, 0) } } /* the owner needs the part no more */
    :: atomic { !dead[me] && offered[1] -> d_step { offered[1] = 0; say(OFFLOAD, 0, 1, 0) } }
    :: atomic { !dead[me] && at_work != NO && failures > 0 -> /* Worker._give_up */
        d_step {
            failures--;
            if
            :: EXPORTS && me == SUBMASTER /* a worker of the group has failed; the sub-master keeps its jobs until STOP */
            :: else -> forget_all()
            fi;
#ifndef MUTANT_FAILED_UNTOLD
            say(FAILED, 0, 0, 0)
#endif
        } }
    :: atomic { !dead[me] && deaths > 0 && !ended -> d_step { deaths--; dead[me] = 1; knows = 0; forget_all() } }
    od
}

/* ---- the master ---- */

inline tell(rank, type, job, node, range) {
    assert(len(down[rank]) < ROOM && !lost[rank]);
    down[rank]!type, job, node, range
}

/* SearchTree._reserve_ids: the id that was freed last is the next; here the lowest. */
inline take_id(fresh) {
    fresh = 0;
    do
    :: fresh < IDS && used[fresh] -> fresh++
    :: else -> break
    od;
    assert(fresh < IDS);
    used[fresh] = 1
}

inline free_id(name) { assert(used[name]); used[name] = 0 }

inline assign(job, node, range, rank) { /* dispatch.assign */
    status[node] = SENT;
    assert(job_node[job] == 0 && used[job]);
    job_node[job] = node; job_window[job] = range; job_worker[job] = rank; dropped[job] = 0; job_remainder[job] = NO
}

inline release(job) { /* dispatch.release */
    job_node[job] = 0; job_window[job] = 0; job_worker[job] = 0; dropped[job] = 0;
    if
    :: job_remainder[job] != NO ->
#ifndef MUTANT_REMAINDER_KEPT
        free_id(job_remainder[job]);
#endif
        job_remainder[job] = NO
    :: else
    fi;
#ifdef MUTANT_FREED_EARLY
    used[job] = 0
#else
    free_id(job)
#endif
}

inline count_waiting() { /* SearchTree.waiting */
    waiting = 0;
    for (i : 1 .. POSITIONS - 1) {
        waiting = waiting + (status[i] == WAITING && is_asked(i))
    }
}

inline is_over() { /* MasterRun.over: halted, or SearchTree.done, which does not wait for offloaded parts */
    over = 1;
    for (i : 1 .. FIRST_PART - 1) {
        over = over && !((status[i] == WAITING || status[i] == SENT) && is_asked(i))
    }
    over = over || halted
}

/* A worker that offloads gets one job at a time, so none of its own parts. */
#define is_busy_owner(rank) (OFFLOADS && rank == OWNER && (out[rank] || part_at[0] || part_at[1]))

inline top_up(rank, most) { /* Master._top_up and SearchTree.take */
    count_waiting();
    if
    :: out[rank] > most - 1 || out[rank] > 0 && waiting == 0 || is_busy_owner(rank) -> more = 0
    :: else ->
        if
        :: waiting == 0 -> work_wanted = 1; more = 0
        :: else ->
            i = 1;
            do
            :: status[i] == WAITING && is_asked(i) -> break
            :: else -> i++
            od;
            take_id(n);
            assign(n, i, question[i], rank);
            if
            :: !told[rank] -> told[rank] = 1; tell(rank, OPEN, 0, 0, 0)
            :: else
            fi;
            x = content(i);
            tell(rank, JOBS, n, x, question[i]);
            out[rank]++;
            more = 1
        fi
    fi
}

inline hand_out() { /* Master._hand_out */
    if
    :: !work_wanted && lost[sender]
    :: !work_wanted && !lost[sender] ->
        do
        :: more = 0; top_up(sender, PREFETCH);
            if
            :: !more -> break
            :: else
            fi
        od
    :: else ->
        work_wanted = 0;
        level = 1;
        do
        :: level <= PREFETCH && !work_wanted ->
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

#if defined(MUTANT_UNNEEDED_REMAINDER) || defined(MUTANT_UNNEEDED_EXPORT)
bit forgotten[IDS]; /* a remainder that is not needed any more when its SPLIT comes; Stream once did without it */
#define is_forgotten(n) forgotten[n]
#else
#define is_forgotten(n) false
#endif

inline job_updates() { /* SearchTree.job_updates and dispatch.next_update: what has changed of jobs that are out */
    for (n : 0 .. IDS - 1) {
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

inline end_part(number) { /* Offloads._end */
    if
    :: part_at[number] -> question[part_at[number]] = 0; part_at[number] = 0; part_job[number] = 0
    :: else
    fi
}

inline end_parts(job) { /* Offloads.end */
    if
    :: part_at[0] && part_job[0] == job -> end_part(0)
    :: else
    fi;
    if
    :: part_at[1] && part_job[1] == job -> end_part(1)
    :: else
    fi
}

#ifdef MUTANT_PART_PLACE_TAKEN
#define may_hold(i) (part_at[0] != (i) && part_at[1] != (i))
#else
#define may_hold(i) (part_at[0] != (i) && part_at[1] != (i) && status[i] != SENT)
#endif
/* Offloads._is_at_work */
#define has_job (job_node[n] && job_worker[n] == sender && !dropped[n])

inline on_offload() { /* Offloads.take_in: job n, part x, serial number window */
    if
    :: window == 0 -> end_part(x)
    :: window && has_job ->
        i = (may_hold(FIRST_PART) -> FIRST_PART : FIRST_PART + 1);
        assert(may_hold(i));
        held[i - FIRST_PART] = window;
        known[i] = 0; question[i] = NARROW; status[i] = WAITING;
        part_at[x] = i; part_job[x] = n
    :: else
    fi;
    work_wanted = 1
}

inline offload_results() { /* Master._offload, Offloads.answered */
    for (w : 0 .. 1) {
        if
        :: part_at[w] && !is_asked(part_at[w]) ->
            tell(OWNER, OFFLOAD_RESULT, w, held[part_at[w] - FIRST_PART], 0);
            end_part(w)
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
        for (n : 0 .. IDS - 1) {
            level = level + (job_node[n] && job_worker[n] == w)
        }
        assert(over || level == out[w]); /* master and tree agree on the jobs of each worker */
        assert(over || work_wanted || lost[w] || out[w]) /* no worker without a job is passed over for ever */
    }
    level = 0;
    for (n : 0 .. IDS - 1) {
        level = level + used[n] - (job_node[n] != 0) - (job_remainder[n] != NO);
        assert(!job_node[n] || used[n] && status[job_node[n]] == SENT && !lost[job_worker[n]]);
        assert(over || !job_node[n] || dropped[n] || is_asked(job_node[n])) /* no worker searches what is not needed */
    }
    assert(level == 0); /* every id is a job's, or kept for a remainder, or free */
    for (w : 0 .. 1) { /* every part is one of a job that its owner has */
        assert(!part_at[w] || job_node[part_job[w]] && job_worker[part_job[w]] == OWNER && question[part_at[w]])
    }
}

inline go_on() { /* Master._continue */
    is_over();
    if
    :: ended
    :: !ended && ignored
    :: !ended && !ignored && over -> wind_up()
    :: !ended && !ignored && !over ->
        hand_out();
        job_updates();
#if OFFLOADS > 0
        offload_results()
#endif
    fi;
    check()
}

inline finish() { /* Master._take_in, SearchTree.finish, dispatch.take_in */
    i = job_node[n];
    assert(used[n] && i && content(i) == x && job_worker[n] == sender); /* it is the job that it says it is */
    out[sender]--;
    if
    :: window -> /* complete */
        assert(window >= job_window[n]); /* searched no less than the master assumes */
        assert(job_window[n] > known[i]); /* and no other worker has answered it */
        known[i] = job_window[n]
    :: else -> assert(dropped[n] || stopping[sender])
    fi;
#ifdef MUTANT_ASKED_AGAIN
    status[i] = (window -> WAITING : SENT);
#else
    status[i] = WAITING;
#endif
    release(n);
#ifndef MUTANT_PARTS_STAY
    end_parts(n)
#endif
}

inline on_split() { /* SearchTree.on_split, dispatch.on_split */
    i = job_node[n];
    more = is_asked(i);
    assert(used[n] && i && keeps(i) && job_worker[n] == sender && job_remainder[n] == x && window >= job_window[n]);
    status[i] = GROWN;
    question[keeps(i)] = (more -> question[i] : 0); /* windows.pass_on */
    question[splits_off(i)] = question[keeps(i)];
    status[splits_off(i)] = WAITING;
    job_remainder[n] = NO;
#ifdef MUTANT_REMAINDER_NOT_ASSIGNED
    status[keeps(i)] = WAITING;
    out[sender]--;
    free_id(x);
#else
    assign(x, keeps(i), window, sender);
#endif
#ifdef MUTANT_UNNEEDED_REMAINDER
    forgotten[x] = !more;
#endif
    release(n);
    work_wanted = 1
}

inline on_export() { /* Master._on_export, SearchTree.on_export, root_export.import_children */
    i = job_node[n];
    more = is_asked(i);
    assert(used[n] && i && keeps(i) && job_worker[n] == sender && job_remainder[n] != NO && window >= job_window[n]);
    status[i] = GROWN;
    question[keeps(i)] = (more -> question[i] : 0);
    question[splits_off(i)] = question[keeps(i)];
    status[splits_off(i)] = WAITING;
    take_id(x);
    assign(x, keeps(i), window, sender);
#ifdef MUTANT_UNNEEDED_EXPORT
    forgotten[x] = !more;
#endif
    tell(sender, EXPORT_IDS, n, x, 0);
    release(n);
    work_wanted = 1
}

inline lose(rank) { /* event Lost(rank): Master._lose, SearchTree.lost */
    lost[rank] = 1;
    for (n : 0 .. IDS - 1) {
        if
        :: job_node[n] && job_worker[n] == rank ->
#ifndef MUTANT_LOST_FOR_GOOD
            status[job_node[n]] = WAITING;
#endif
            release(n)
        :: else
        fi
    }
#ifndef MUTANT_LOST_OWNER
    if
    :: rank == OWNER -> end_part(0); end_part(1)
    :: else
    fi;
#endif
    out[rank] = 0; told[rank] = 0; stopping[rank] = 0;
    work_wanted = 1;
    ended = 1; /* EveryWorkerLostError, unless a worker is left */
    for (w : 0 .. WORKERS - 1) {
        ended = ended && lost[w]
    }
}

#ifdef MUTANT_LATE_ANSWERS
#define is_ignored (lost[sender] && !(kind == RESULTS && used[n] && job_node[n]))
#else
#define is_ignored lost[sender]
#endif
#ifdef MUTANT_NOT_RESET
#define is_reset_done true
#else
#define is_reset_done (kind == RESET_DONE && resetting[sender] && n == epoch[sender])
#endif

inline received() { /* Master._received */
    if
    :: is_ignored && is_reset_done -> /* _readmit, and then _ready */
        lost[sender] = 0; resetting[sender] = 0; work_wanted = 1
    :: is_ignored && !is_reset_done && !resetting[sender] ->
        ignored = 1;
        resetting[sender] = 1; epoch[sender]++;
        assert(len(down[sender]) < ROOM);
        down[sender]!RESET, epoch[sender], 0, 0
    :: !is_ignored ->
        assert(was == epoch[sender]); /* nothing from before a RESET */
        if
        :: kind == RESULTS -> finish()
        :: kind == SPLIT -> on_split()
        :: kind == STOPPED -> out[sender] = 0; stopping[sender] = 0
        :: kind == PONG -> ignored = 1
        :: kind == FAILED -> /* Master._halt */
            halted = 1;
#ifdef MUTANT_FAILED_IS_DONE
            out[sender] = 0
#endif
        :: kind == OFFLOAD -> on_offload()
        :: kind == EXPORT -> on_export()
        fi
    :: else -> ignored = 1
    fi
}

/* Jobs that may be split: all, where a worker has none. */
#define may_split(job) (job_node[job] && !dropped[job] && job_remainder[job] == NO)

inline request_split() { /* the second half of SearchTree.job_updates */
    if
    :: splits == 0 || over || !work_wanted
    :: splits > 0 && !over && work_wanted ->
        if /* dispatch.largest_job */
        :: may_split(0) -> x = 0
        :: may_split(1) -> x = 1
        :: may_split(2) -> x = 2
        :: may_split(3) -> x = 3
        :: x = NO
        fi;
        d_step {
            if
            :: x != NO ->
                splits--;
                take_id(n);
                job_remainder[x] = n;
                tell(job_worker[x], JOB_UPDATE, x, n, job_window[x])
            :: else
            fi;
            n = 0; x = 0
        }
    fi
}

active proctype master() {
    byte changes = CHANGES, splits = SPLITS, suspicions = SUSPICIONS, halts = HALTS;
    byte sender, i, n, w, x, window, was, waiting;
    short level;
    bit over, more, ignored;
    mtype kind;
    d_step {
        for (n : 0 .. IDS - 1) {
            job_remainder[n] = NO
        }
        status[1] = WAITING; question[1] = WIDE;
        status[6] = WAITING; question[6] = WIDE;
        go_on()
    }
    atomic {
        request_split();
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
        :: changes > 0 && !over -> /* windows.improved, and all that it leads to */
            changes--;
            kind = JOB_UPDATE;
            if
            :: n = 1 :: n = 2 :: n = 3 :: n = 4 :: n = 5 :: n = 6
            fi;
            if
            :: window = 0 :: window = NARROW :: window = WIDE
            fi
        :: halts > 0 && !over -> halts--; kind = STOP
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
            :: kind == STOP -> halted = 1 /* event Halt */
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
        :: else -> request_split()
        fi }
    od
}

#ifdef LIVENESS
ltl ends { <> ended }
#endif

# shellcheck shell=bash
# Functions that the scripts share; sourced, never run. They work from any directory: ROOT is the checkout.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

MPI_LIMIT=${MPI_LIMIT:-300} # seconds for one MPI test run; a deadlock must fail, not block

# shellcheck disable=SC2034 # used by the scripts
# Extras for users that can be installed together; the others are the second MPI and what needs CUDA.
RUNTIME_EXTRAS=mpich,plot,tune,watch,http,parquet OTHER_RUNTIME_EXTRAS=openmpi,gpu

say() { printf '%s\n' "$*" >&2; }

die() {
    say "$(basename "$0"): $*"
    exit 1
}

# find_python: prints an interpreter that can make the venv, $DISTSEARCH_PYTHON if that is set.
find_python() {
    local candidate recent="" candidates=(python3 python3.14 python3.13 python3.12 python3.11)
    [[ -z ${DISTSEARCH_PYTHON:-} ]] || candidates=("$DISTSEARCH_PYTHON")
    for candidate in "${candidates[@]}"; do
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        # Debian leaves ensurepip out of its python3.
        if "$candidate" -c 'import ensurepip, venv; ensurepip.version()' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
        recent=${recent:-$candidate}
    done
    [[ -z $recent ]] || die "$recent cannot make virtual environments; on Debian: apt install python3-venv"
    [[ -z ${DISTSEARCH_PYTHON:-} ]] || die "DISTSEARCH_PYTHON=$DISTSEARCH_PYTHON is not a Python 3.11 or newer"
    die "no Python 3.11 or newer among ${candidates[*]}; install one, or set DISTSEARCH_PYTHON to its path"
}

# usable DIR: whether the venv DIR is whole, was made where it is, and by $DISTSEARCH_PYTHON if that is set.
usable() {
    local identity='import sys, pip; print(sys.version, sys.base_prefix)' own
    own=$("$1/bin/python" -c "$identity" 2>/dev/null) && grep -qsF -- "$1" "$1/bin/activate" || return 1
    [[ -z ${DISTSEARCH_PYTHON:-} || $own == "$("$DISTSEARCH_PYTHON" -c "${identity/, pip/}")" ]]
}

# make_venv DIR EXTRAS: a venv with the project, editable, and at least these extras (a list with commas). A stamp file
# tells that nothing has changed since the last time, so that later starts are quick and need no network.
make_venv() {
    local dir=$1 wanted=$2 stamp=$1/.distsearch-installed key python extra old_key="" had="" missing=() quiet=()
    if ! usable "$dir"; then
        python=$(find_python)
        say "making $dir with $python"
        "$python" -m venv --clear "$dir"
    fi

    key=$(cat "$ROOT/setup.cfg" "$ROOT/pyproject.toml" | sha256sum | cut -c1-16)
    [[ ! -f $stamp ]] || { read -r old_key && read -r had; } <"$stamp"
    for extra in ${wanted//,/ }; do
        [[ ,$had, == *",$extra,"* ]] || missing+=("$extra")
    done
    [[ $key != "$old_key" || ${#missing[@]} -gt 0 ]] || return 0
    for extra in "${missing[@]}"; do
        had=${had:+$had,}$extra
    done

    say "installing distsearch[$had] into $dir (once; needs the network)"
    rm -f "$stamp"
    [[ -t 2 ]] || quiet=(--quiet)
    # compat: with the finder that setuptools makes otherwise, a clone called distsearch hides the package from Python in
    # the folder above
    "$dir/bin/python" -m pip install "${quiet[@]}" --disable-pip-version-check \
        --config-settings editable_mode=compat --editable "${ROOT}[$had]" >&2 ||
        die "pip could not install distsearch[$had] into $dir"
    printf '%s\n' "$key" "$had" >"$stamp"
}

# use_venv DIR: puts it first on PATH, from where mpirun starts its helpers, and lets Open MPI do what MPICH does
# unasked: run as root, and more ranks than there are cores. Bytecode is kept, whatever the user prefers: the tests start
# hundreds of processes, each of which would translate the package again, for 0.2 s of CPU time.
use_venv() {
    unset PYTHONDONTWRITEBYTECODE
    export VIRTUAL_ENV=$1 PATH=$1/bin:$PATH
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
}

# mpi_tests SCRATCH RANKS [pytest arguments]: the tests of tests/mpi with the MPI of the venv in use. Rank 0's report is
# shown, and that of every other rank that failed. SCRATCH is a folder for the ranks' files.
mpi_tests() {
    local logs rank ranks=$2 status=0 launched=0 outcome color=no
    logs=$(mktemp -d "$1/mpi.XXXX")
    shift 2
    if ! compgen -G "$ROOT/tests/mpi/test_*.py" >/dev/null; then
        echo "no tests in tests/mpi"
        return 0
    fi
    # In the foreground, or Ctrl-C would not reach the ranks. A rank that hangs shows where well before the limit.
    # One seed for all ranks, or their random numbers would part.
    # PRTE: a folder for Open MPI's mpirun; it does not start where one that was killed has left one of its process id.
    # tr: pytest-mpi prints Open MPI's version with the NUL at its end, and tools take a log with a NUL for binary.
    [[ ! -t 1 ]] || color=yes
    PRTE_MCA_prte_tmpdir_base=$logs timeout --foreground --kill-after=5 "$MPI_LIMIT" \
        mpirun -n "$ranks" "$ROOT/scripts/one-rank" "$logs" python -m pytest --with-mpi --color="$color" \
        --seed "$EPOCHSECONDS" -o faulthandler_timeout=$((MPI_LIMIT / 2)) -o testpaths=tests/mpi "$@" \
        </dev/null | tr -d '\0' ||
        launched=${PIPESTATUS[0]}
    ((launched == 0)) || status=1
    ((launched != 124 && launched != 137)) || echo "mpirun -n $ranks: not finished after $MPI_LIMIT s"
    for ((rank = 0; rank < ranks; rank++)); do
        outcome=$(cat "$logs/$rank.status" 2>/dev/null || echo none)
        [[ $outcome != [05] ]] || continue # 5: pytest found no tests
        status=1
        echo "rank $rank of $ranks: exit status $outcome"
        [[ ! -f $logs/$rank.log ]] || awk -v rank="$rank" '{ print "[" rank "] " $0 }' "$logs/$rank.log"
    done
    return "$status"
}

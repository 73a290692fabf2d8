# shellcheck shell=bash
# What a site has of its own, once for all scripts of this folder, which source it. Each line may also be overridden from
# outside: sbatch --export=ALL,LAUNCHER=mpirun scripts/slurm/search.sbatch
# shellcheck disable=SC2034 # the scripts use what is set here

# 1. Modules: the MPI that mpi4py was built against (docs/cluster.md), and a Python that is not older than 3.11.
#    Change to what `module avail` lists, on nodes that have modules at all.
# module purge
# module load gcc openmpi python

# 2. The virtual environment with distsearch in it, on a file system that all nodes see. Empty: PATH has it already.
VENV=${VENV-$PWD/.venv}
if [[ -n $VENV ]]; then
    # shellcheck disable=SC1091 # it is made where distsearch is installed
    source "$VENV/bin/activate"
fi

# 3. Compiled kernels: a folder that all nodes see (compiled once for all of them), or where that is slow one of each node
#    (compiled once a node and job): export DISTSEARCH_CACHE=${TMPDIR:-/tmp}/distsearch-$USER
export DISTSEARCH_CACHE=${DISTSEARCH_CACHE:-$HOME/.cache/distsearch}

# 4. What starts the ranks: srun, where Slurm and the MPI were built to know one another (`srun --mpi=list`: pmi2 for
#    MPICH and Intel MPI, pmix for Open MPI), or mpirun, which asks Slurm for its nodes. A script adds the
#    number of ranks.
LAUNCHER=${LAUNCHER:-srun}
case $LAUNCHER in
srun) launch=(srun --mpi="${SRUN_MPI:-pmi2}" --kill-on-bad-exit=1 -n) ;;
mpirun) launch=(mpirun -n) ;;
*) echo "LAUNCHER is srun or mpirun, not $LAUNCHER" >&2 && exit 2 ;;
esac

# Where results go. A job that is requeued has the same number again, so it finds what it has left there.
RESULTS=${RESULTS:-results}
mkdir -p "$RESULTS"

# 5. Whether launcher, library, cache and GPUs fit together: first in the job's log, and the job ends there if not.
check() { # check RANKS
    "${launch[@]}" "$1" distsearch info >&2
}

"""Which ranks are of one host."""

import os

from ..errors import UserError

VARIABLE = "DISTSEARCH_HOSTS"  # in the environment: so many hosts are to be made of each, for tests


def of_this_host(comm):
    """Return a communicator of the ranks that share memory with this one; collective over ``comm``."""
    from mpi4py import MPI

    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    parts = os.environ.get(VARIABLE, "1")
    if not (parts.isdecimal() and 1 <= int(parts) <= 1000):
        raise UserError(f"{VARIABLE} {parts[:40]} is not a number from 1 to 1000")
    if parts == "1":
        return host
    part = host.Split(host.Get_rank() * int(parts) // host.Get_size(), host.Get_rank())
    host.Free()
    return part

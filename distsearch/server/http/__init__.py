"""The service over HTTP: a process next to rank 0 is a client of the service's socket for each HTTP request.

Only ``gateway`` and ``openapi`` run on rank 0. The other modules run in that process; they need neither numpy nor MPI.
"""

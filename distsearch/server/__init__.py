"""The service: requests from sockets and stdin, queued for the ranks of one session, and the client for it."""

"""Principal-variation search with a transposition table: its kernels, its tables, and the engines made of them."""

"""What is learnt from the program's own searches and games."""

"""What a Python program calls: sessions, options, results, and every kind of search from end to end."""

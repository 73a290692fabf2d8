"""What everything else stands on, and nothing about games or ranks: compiling, memory, files of arrays, errors."""

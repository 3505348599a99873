"""Rules as checked data: the file format, its errors with positions, names and filters. Only `files` opens anything."""

"""What a user types: one file per command. Parses arguments, calls `app`, prints. Never decides what an answer is."""

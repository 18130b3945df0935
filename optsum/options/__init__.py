"""What a user says, in a file or as arguments, and what it means."""

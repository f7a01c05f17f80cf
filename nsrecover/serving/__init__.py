"""What people and other programs see of a session: the server with its client, live pages, and reports."""

"""Who asks, and whether he may.

In go a peer's certificate, the headers of its request and what it wants; out comes a user, or a refusal. Certificates
and headers are judged here, tokens and permissions by the API server. It never knows what is asked for, never opens a
connection, and in doubt it refuses.
"""

"""The HTTPS door: sockets, TLS, routes, handlers, health. In come requests, out go bytes."""

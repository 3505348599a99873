"""Talks to the Kubernetes API server. Only `app` imports it."""

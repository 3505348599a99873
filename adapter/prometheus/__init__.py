"""Talks to Prometheus-compatible servers: in goes PromQL, out come results or errors of the adapter's family.

Only `app` imports it. It never judges values, keeps no answer, and never shows an address or a credential.
"""

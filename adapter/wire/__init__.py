"""The Kubernetes side of the language: names, selectors, quantities, lists, statuses, discovery documents.

In go plain values, out come plain values or bytes. Never waits, opens, logs or reads a clock.
"""

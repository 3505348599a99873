"""Logs, the adapter's own metrics, the clock."""

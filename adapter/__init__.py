"""A Custom Metrics API server for the HorizontalPodAutoscaler."""

__version__ = "0.1.0"

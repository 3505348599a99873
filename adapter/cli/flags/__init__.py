"""The options of `serve`, one file per concern: what click shows of them, and the settings that they mean.

Each file has OPTIONS and one function per settings class. Those of prometheus-adapter bear its names.
"""

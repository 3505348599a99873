"""This lets `python -m adapter` do what `hpa-adapter` does."""

from adapter.cli import main

if __name__ == "__main__":
    main.main()

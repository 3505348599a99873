"""Two replicas behind haproxy are replaced one after the other under load (G12, F36): how many requests fail.

Real parts: Go services, Prometheus, the stand-in cluster, haproxy with the front proxy's certificate. It must be none.
"""

import contextlib
import pathlib
import sys
import tempfile

from adapter.cli import parts, process
from adapter.cli.parts import Prometheus, Service
from tests.e2e import test_replicas as scenario
from tests.support.processes import PODS

ROUNDS = 3


def main() -> None:
    for tool in ("haproxy", "prometheus", "go"):
        process.tool(tool, f"install {tool}")
    total = 0
    for number in range(ROUNDS):
        with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
            place = pathlib.Path(directory)
            binary = parts.build_service(place)
            services = [stack.enter_context(Service(binary, pod, directory=place)) for pod in PODS]
            prometheus = stack.enter_context(Prometheus(services, directory=place))
            own = place / "replicas"
            own.mkdir()
            seen = scenario.replaced(prometheus, own)
        failed = sum(count for status, count in seen.items() if status != 200)
        total += failed
        print(f"round {number + 1}: {seen[200]} answered, {failed} failed")
    print(f"failed requests: {total}")
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    main()

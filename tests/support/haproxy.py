"""Debian's haproxy as a second aggregator, written by others: client certificate, X-Remote-* headers, replicas behind it."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from adapter.cli import process
from adapter.cli.process import LOOPBACK, Part, PartError
from tests.support import aggregator_wire as wire
from tests.support.fake_kube_rbac import User

ADVICE = "on Debian: apt-get install haproxy"

CONFIG = """\
global
    maxconn 4000
    tune.maxrewrite 16384
    tune.bufsize 65536
    tune.http.maxhdr 1024
defaults
    mode http
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    option redispatch 1
    retries 3
    retry-on conn-failure empty-response
frontend kubernetes
    bind {address}
    http-request del-header X-Remote- -m beg
    http-request del-header Authorization
    http-request set-header Host {cluster_ip}
    http-request set-header X-Forwarded-Proto https
{headers}
    default_backend adapters
backend adapters
    balance roundrobin
    http-reuse safe
    option httpchk
    http-check send meth GET uri /readyz
    http-check expect status 200
    default-server ssl verify required ca-file {authority} verifyhost {name} sni str({name}) check-sni {name} \
crt {pair} check inter 200ms fall 1 rise 1
{servers}
"""
"""Requests are tried again where Go's transport does: before the first byte of an answer."""


@dataclass(frozen=True)
class Behind:
    """What it speaks to: replicas, the name that they must prove, the CA (a file) that vouches for it."""

    replicas: Sequence[tuple[str, int]]
    name: str
    authority: Path


class Haproxy(Part):
    """One haproxy. Whoever asks at `url` is `user` to the adapter."""

    def __init__(self, behind: Behind, front_proxy: tuple[str, str], user: User, *, directory: Path) -> None:
        self._port = process.free_port()
        self.url = f"http://{LOOPBACK}:{self._port}"
        pair = directory / "haproxy-client.pem"
        pair.write_text("".join(Path(one).read_text(encoding="utf-8") for one in front_proxy))
        config = directory / "haproxy.cfg"
        config.write_text(self._config(behind, pair, user))
        program = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            raise PartError(f"the program `haproxy` is missing ({ADVICE})")
        super().__init__("haproxy", [program, "-db", "-q", "-f", config], log=directory / "haproxy.log")

    def _config(self, behind: Behind, pair: Path, user: User) -> str:
        servers = [
            f"    server replica{number} {address}:{port}"
            for number, (address, port) in enumerate(behind.replicas)
        ]
        headers = [
            f"    http-request add-header {name} {_quoted(value)}" for name, value in wire.identity(user)
        ]
        return CONFIG.format(
            address=f"{LOOPBACK}:{self._port}",
            cluster_ip="127.96.0.10:443",
            headers="\n".join(headers),
            authority=behind.authority,
            name=behind.name,
            pair=pair,
            servers="\n".join(servers),
        )

    def start(self) -> None:
        """This starts it and waits until a replica is ready behind it."""
        super().start()
        self.wait("find a replica", lambda: process.answers(f"{self.url}/readyz"))


def _quoted(value: str) -> str:
    """One word of haproxy's configuration; a percent sign begins a variable there."""
    return "'" + value.replace("%", "%%").replace("'", "'\\''") + "'"

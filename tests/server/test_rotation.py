"""The serving pair on disk: a better one is taken, a broken one refused."""

import datetime

import pytest

from adapter.server import suites
from adapter.server.pair import PairFiles
from adapter.server.rotation import LOOK_SECONDS, Rotation
from adapter.server.tls import Contexts
from adapter.settings import Serving
from tests.support import doors
from tests.support.certificates import EXPIRED, NOW
from tests.support.clock import FakeClock


class Disk:
    """A pair on disk, a rotation that looks at it, and what it logged."""

    def __init__(self, directory, caplog, **changes):
        self._directory = directory
        self._caplog = caplog
        caplog.set_level("INFO")
        cert, key = doors.serving_leaf(**changes).write(directory, "tls")
        self.files = PairFiles(Serving(cert_file=cert, key_file=key))
        self.contexts = Contexts(self.files.read(NOW), suites.of(Serving()))
        self.clock = FakeClock(NOW.timestamp())
        self.rotation = Rotation(self.files, self.contexts, self.clock)

    def write(self, leaf):
        leaf.write(self._directory, "tls")

    def cut(self):
        file = self._directory / "tls.crt"
        file.write_bytes(file.read_bytes()[:100])

    def remove(self):
        (self._directory / "tls.key").unlink()

    def look(self) -> list[str]:
        """The lines of a look."""
        self._caplog.clear()
        self.rotation.look()
        return [one.message for one in self._caplog.records]

    def serves(self, leaf) -> bool:
        return self.contexts.pair.cert == leaf.pem.encode()


@pytest.fixture
def disk(tmp_path, caplog):
    return Disk(tmp_path, caplog)


def test_unchanged_pair_is_nothing_to_tell(disk):
    """No line, no new context."""
    context = disk.contexts.current()
    assert disk.look() == disk.look() == []
    assert disk.contexts.current() is context


def test_new_pair_is_taken(disk):
    """With one line, and the next look has nothing to tell."""
    leaf = doors.serving_leaf()
    disk.write(leaf)
    assert disk.look() == ["certificate_reloaded"]
    assert disk.serves(leaf)
    assert disk.look() == []


@pytest.mark.parametrize("harm", [Disk.cut, Disk.remove])
def test_broken_pair_is_refused_with_one_line_and_the_next_one_taken(disk, harm):
    """The old one serves meanwhile."""
    before = disk.contexts.pair
    harm(disk)
    assert disk.look() == ["certificate_rejected"]
    assert disk.look() == disk.look() == []
    assert disk.contexts.pair == before
    leaf = doors.serving_leaf()
    disk.write(leaf)
    assert disk.look() == ["certificate_reloaded"]
    assert disk.serves(leaf)


def test_half_a_change_is_waited_out(disk, tmp_path):
    """The certificate is new and its key is not there yet: refused; with the key it is taken."""
    leaf = doors.serving_leaf()
    (tmp_path / "tls.crt").write_text(leaf.pem)
    assert disk.look() == ["certificate_rejected"]
    (tmp_path / "tls.key").write_text(leaf.key_pem)
    assert disk.look() == ["certificate_reloaded"]


def test_two_broken_pairs_are_two_lines(disk, tmp_path):
    """Each is told once; the old pair put back is nothing to tell."""
    old = (tmp_path / "tls.crt").read_bytes()
    (tmp_path / "tls.crt").write_text("one")
    assert disk.look() == ["certificate_rejected"]
    (tmp_path / "tls.crt").write_text("two")
    assert disk.look() == ["certificate_rejected"]
    (tmp_path / "tls.crt").write_bytes(old)
    assert disk.look() == []
    (tmp_path / "tls.crt").write_text("two")
    assert disk.look() == ["certificate_rejected"]


def test_expired_pair_does_not_replace_a_valid_one(disk):
    """Somebody put an old file there."""
    disk.write(doors.serving_leaf(valid=EXPIRED))
    assert disk.look() == ["certificate_rejected"]


def test_expired_pair_replaces_an_expired_one(tmp_path, caplog):
    """None is better; the newest is served, and its end is told."""
    disk = Disk(tmp_path, caplog, valid=EXPIRED)
    leaf = doors.serving_leaf(valid=EXPIRED)
    disk.write(leaf)
    assert disk.look() == ["certificate_reloaded", "certificate_expires"]
    assert disk.serves(leaf)


def test_end_that_comes_near_is_told(disk):
    """The rotation looks at the certificate's end too."""
    disk.clock.advance(disk.contexts.expires_in(disk.clock.now()) - 3600)
    assert disk.look() == ["certificate_expires"]


def test_own_pair_is_renewed_while_it_serves(tmp_path, caplog):
    """The self-signed pair is made anew in its last month, and taken."""
    files = PairFiles(Serving(cert_dir=str(tmp_path)))
    contexts = Contexts(files.read(NOW), suites.of(Serving()))
    rotation = Rotation(files, contexts, FakeClock((NOW + datetime.timedelta(days=340)).timestamp()))
    rotation.look()
    assert contexts.not_after > NOW + datetime.timedelta(days=700)


async def test_looks_go_on(disk):
    """At once, and then every 15 s, by the sleep that was given."""
    slept = []

    async def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 2:
            raise ZeroDivisionError

    rotation = Rotation(disk.files, disk.contexts, disk.clock, sleep=sleep)
    disk.write(doors.serving_leaf())
    with pytest.raises(ZeroDivisionError):
        await rotation.for_ever()
    assert slept == [LOOK_SECONDS] * 2
    assert disk.look() == []  # it had been taken

"""F59: a dependency is not what was tested.

To see them fail: take a hash, or a reason in pyproject.toml, away; put an address into a lock; leave `--require-hashes` out
of the Dockerfile.
"""

import base64
import hashlib
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = sorted(ROOT.glob("requirements*.txt"))
MOST_DIRECT = 14
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

INSTALLERS = [ROOT / "Dockerfile", *(one for one in (ROOT / "scripts").iterdir() if one.is_file())]


def entries(lock: Path) -> list[str]:
    """Its requirements, each with its hashes on one line."""
    return [line for line in lock.read_text().replace("\\\n", "").splitlines() if line.strip()]


def locked(lock: Path) -> dict[str, Requirement]:
    found = (Requirement(line.partition("--hash")[0]) for line in entries(lock))
    return {canonicalize_name(one.name): one for one in found}


# -- the locks


def test_f59_there_is_a_lock_for_each_use():
    """What the image holds, what builds it, and what tests it."""
    assert [one.name for one in LOCKS] == [
        "requirements-build.txt",
        "requirements-dev.txt",
        "requirements.txt",
    ]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda one: one.name)
def test_f59_each_line_is_one_version_with_its_hashes(lock):
    """Nothing else: no option, no other file, no address."""
    line = re.compile(
        r"[A-Za-z0-9._-]+(\[[a-z0-9,-]+\])?==[^\s;]+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+"
    )
    assert [one for one in entries(lock) if not line.fullmatch(one)] == []
    assert not re.search(r"://| @ |^-", lock.read_text(), re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS[1:], ids=lambda one: one.name)
def test_f59_what_the_project_asks_for_is_in_the_lock(lock):
    """In a version that it allows: a lock that was not made anew is no lock."""
    versions = locked(lock)
    for one in map(Requirement, PROJECT["project"]["dependencies"]):
        (pinned,) = versions[canonicalize_name(one.name)].specifier
        assert pinned.version in one.specifier, one.name


def test_f59_the_image_and_the_tests_have_the_same_versions():
    """What was tested is what is shipped."""
    dev, image = locked(ROOT / "requirements-dev.txt"), locked(ROOT / "requirements.txt")
    assert {name: str(one.specifier) for name, one in image.items()} == {
        name: str(dev[name].specifier) for name in image
    }


# -- what the project asks for


def test_f59_direct_dependencies_are_few():
    """Each one more is somebody more to trust."""
    assert len(PROJECT["project"]["dependencies"]) <= MOST_DIRECT


def test_f59_each_dependency_has_its_reason():
    """Beside it, with its size for those that are installed in a cluster."""
    text = (ROOT / "pyproject.toml").read_text()
    listed = re.findall(r'^  ("[^"]+", .*|"[^"]+",)$', text, re.MULTILINE)
    wanted = [*PROJECT["project"]["dependencies"], *_of_groups()]
    reasons = {one.split('"')[1]: one.partition("#")[2].strip() for one in listed}
    assert [one for one in wanted if len(reasons.get(one, "")) < len("the linter")] == []
    shipped = PROJECT["project"]["dependencies"]
    assert [one for one in shipped if not re.search(r"\(\d+\)$", reasons[one])] == []


def _of_groups() -> list[str]:
    groups = PROJECT["dependency-groups"].values()
    return [one for group in groups for one in group if isinstance(one, str)]


# -- what installs them


@pytest.mark.parametrize("path", INSTALLERS, ids=lambda one: one.name)
def test_f59_no_lock_is_installed_without_its_hashes(path):
    """pip compares them only if it is told to, or if every line has one."""
    commands = re.split(r"\n|&&|;", path.read_text().replace("\\\n", " "))
    loose = [
        one for one in commands if re.search(r"-r\s+requirements", one) and "--require-hashes" not in one
    ]
    assert loose == []


@pytest.fixture
def package(tmp_path):
    """A directory with one package, as small as can be; its file."""
    (tmp_path / "packages").mkdir()
    wheel = tmp_path / "packages" / "tiny-1.0-py3-none-any.whl"
    files = {
        "tiny.py": "",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ["tiny-1.0.dist-info/RECORD,,"]
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(text)}")
        archive.writestr("tiny-1.0.dist-info/RECORD", "\n".join(record))
    return wheel


def install(package: Path, line: str) -> subprocess.CompletedProcess[str]:
    """What pip makes of a lock with this line, without a network."""
    lock = package.parent.parent / "requirements.txt"
    lock.write_text(f"{line}\n")
    words = [
        "install",
        "--isolated",
        "--no-index",
        "--find-links",
        package.parent,
        "--no-cache-dir",
        "--no-compile",
    ]
    target = [
        "--disable-pip-version-check",
        "--require-hashes",
        "-r",
        lock,
        "--target",
        lock.parent / "installed",
    ]
    return subprocess.run(
        [sys.executable, "-m", "pip", *words, *target], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("case", ["right", "wrong", "none"])
def test_f59_pip_takes_the_package_that_was_locked_and_no_other(case, package):
    """A file with another content fails the installation, and so does a line without a hash."""
    right = hashlib.sha256(package.read_bytes()).hexdigest()
    line = {"right": f"tiny==1.0 --hash=sha256:{right}", "wrong": f"tiny==1.0 --hash=sha256:{'0' * 64}"}
    done = install(package, line.get(case, "tiny==1.0"))
    told = {"wrong": "DO NOT MATCH THE HASHES", "none": "Hashes are required"}
    assert (done.returncode == 0) == (case == "right"), done.stderr
    assert told.get(case, "") in done.stderr
    assert (package.parent.parent / "installed" / "tiny.py").exists() == (case == "right")

"""The image's recipe: no engine is at hand in tests, so its facts are read from the text."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from adapter import __version__

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Dockerfile").read_text()


def instructions() -> list[tuple[str, str]]:
    """(word, rest) of each instruction, continued lines joined, comments left out."""
    lines = [line for line in TEXT.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def stages() -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    for one in instructions():
        if one[0] == "FROM":
            found.append([])
        found[-1].append(one)
    return found


@pytest.fixture
def build() -> list[tuple[str, str]]:
    return stages()[0]


@pytest.fixture
def final() -> list[tuple[str, str]]:
    return stages()[-1]


def commands(stage: list[tuple[str, str]]) -> list[str]:
    """The RUN lines of a stage, one entry per command."""
    return [part.strip() for word, rest in stage if word == "RUN" for part in rest.split("&&")]


def test_two_stages_stand_on_the_same_slim_debian():
    """The environment is copied over, so both stages must have the same Python at the same place."""
    bases = [stage[0][1].split()[0] for stage in stages()]
    assert bases == ["python:3.13-slim-bookworm"] * 2


def test_final_stage_runs_nothing(final):
    """Everything is made in the first stage: the second has no RUN, so no tool of the build stays behind."""
    assert "RUN" not in {word for word, _ in final}


def test_user_is_a_number(final):
    """Kubernetes can see that a number other than 0 isn't root; of a name it can't tell."""
    assert ("USER", "65532:65532") in final


def test_every_package_has_a_known_hash(build):
    """Packages come from the locked lists with hashes, or are the wheel just built, without the network."""
    installs = [one for one in commands(build) if " install " in one or " wheel " in one]
    assert len(installs) == 4
    for one in installs:
        assert "--require-hashes" in one or ("--no-index" in one and "--no-deps" in one)
    for name in ("requirements.txt", "requirements-build.txt"):
        text = (ROOT / name).read_text()
        assert text.count("--hash=sha256:") > text.count("==")
        assert "://" not in text


def test_no_check_of_a_certificate_is_skipped():
    """No trusted-host, no switched-off verification."""
    for word in ("trusted-host", "insecure", "no-check-certificate", "PYTHONHTTPSVERIFY"):
        assert word not in TEXT


def test_bytecode_is_compiled_in_the_build_and_never_written_later(build, final):
    """The root file system is read-only: what isn't compiled in the build is compiled at each start."""
    assert [one for one in commands(build) if "compileall" in one and "unchecked-hash" in one]
    environment = " ".join(rest for word, rest in final if word == "ENV")
    assert "PYTHONDONTWRITEBYTECODE=1" in environment


def test_charts_of_prometheus_adapter_can_start_the_image(final):
    """They give the whole command as arguments, `/adapter --secure-port=...`: there must be no entry point."""
    words = [word for word, _ in final]
    assert "ENTRYPOINT" not in words
    assert ("CMD", '["/adapter"]') in final
    assert any(word == "COPY" and rest.split()[-1] == "/adapter" for word, rest in final)


def test_adapter_is_serve():
    """`/adapter FLAGS` is `hpa-adapter serve FLAGS`."""
    script = ROOT / "scripts" / "adapter"
    assert script.read_text().startswith("#!/opt/hpa-adapter/bin/python -I\n")
    assert script.stat().st_mode & 0o111
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['/adapter', '--help']; exec(open({str(script)!r}).read())"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "--prometheus-url" in done.stdout


def test_labels_say_what_it_is(final):
    """Title, licence and version, as the open container specification names them; the version is the package's."""
    labels = " ".join(rest for word, rest in final if word == "LABEL")
    for name in ("title", "description", "licenses", "version"):
        assert f"org.opencontainers.image.{name}=" in labels
    assert ("ARG", f"VERSION={__version__}") in final
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_what_is_copied_is_let_through_to_the_build(build):
    """.dockerignore shuts everything out but what the first stage copies."""
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in ignore if line.startswith("!")}
    copied = {name.rstrip("/") for word, rest in build if word == "COPY" for name in rest.split()[:-1]}
    assert "*" in ignore
    assert copied == allowed

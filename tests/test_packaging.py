"""What is installed is what was tested: the wheel, and what the server loads of it."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_wheel_carries_the_shipped_rules(tmp_path):
    """`--config=@go-runtime` works without a checkout."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "adapter/shipped_rules/go-runtime.yaml" in names
    assert "adapter/flows/answer.py" in names
    assert not [name for name in names if name.startswith("tests")]


def test_server_does_not_load_what_only_commands_need():
    """prometheus-api-client and requests' session stay out of the server's process; only `check` imports them."""
    code = (
        "import sys, adapter.cli.main, adapter.app;"
        "print(sorted(name for name in sys.modules if name.split('.')[0] == 'prometheus_api_client'))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"

"""Files that somebody else rewrites."""

import os

import pytest

from adapter.kube.files import Files


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "token"
    path.write_text("one")
    return path


def test_a_file_that_stays_has_not_changed(path):
    """Looking changes nothing."""
    files = Files([str(path)])
    assert not files.changed()
    assert not files.changed()


def test_other_content_is_a_change(path):
    """Also of the same length and within the same second."""
    files = Files([str(path)])
    path.write_text("two")
    assert files.changed()


def test_a_touched_file_has_not_changed(path):
    """Only content counts, not its time."""
    files = Files([str(path)])
    os.utime(path, ns=(1, 1))
    assert not files.changed()


def test_a_swapped_link_is_a_change(tmp_path):
    """kubelet rewrites a volume by pointing a link at another directory."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "token").write_text(name)
    link = tmp_path / "..data"
    link.symlink_to("one")
    files = Files([str(link / "token")])
    link.unlink()
    link.symlink_to("two")
    assert files.changed()


def test_a_missing_file_is_a_change_and_so_is_its_return(path):
    """A file may be away for a moment."""
    files = Files([str(path)])
    path.unlink()
    assert files.changed()
    path.write_text("one")
    assert not files.changed()


def test_a_file_that_never_was_has_not_changed(tmp_path):
    """It changes when it comes."""
    files = Files([str(tmp_path / "token")])
    assert not files.changed()
    (tmp_path / "token").write_text("one")
    assert files.changed()


def test_an_accepted_change_is_none_any_more(path):
    """What was read is the new measure."""
    files = Files([str(path)])
    path.write_text("two")
    files.accept()
    assert not files.changed()

"""Probes: named, each with its reason, as text."""

from adapter.server.health import Health

HEALTH = Health(
    live={"ping": lambda: None},
    ready={"ping": lambda: None, "objects_were_tried": lambda: "the first list of pods is on its way"},
    shown={"backend": lambda: "down"},
)


def test_passing_probe_says_ok():
    """Without ?verbose the body is the two letters that Kubernetes' own probes have."""
    assert HEALTH.livez(None, verbose=False) == (200, "ok")
    assert HEALTH.healthz(None, verbose=False) == (200, "ok")


def test_verbose_lists_each_check():
    """The text has a line per probe and a closing one."""
    assert HEALTH.livez(None, verbose=True) == (200, "[+]ping ok\nlivez check passed\n")


def test_failing_probe_is_named_with_its_reason():
    """A failure is 503 and says which probe failed and why, verbose or not."""
    status, text = HEALTH.readyz(None, verbose=False)
    assert status == 503
    assert "[-]objects_were_tried failed: the first list of pods is on its way\n" in text


def test_facts_are_shown_and_block_nothing():
    """A backend that is down is information on /readyz?verbose, not a failure."""
    status, text = HEALTH.readyz("ping", verbose=True)
    assert status == 200
    assert "[i]backend: down\n" in HEALTH.readyz(None, verbose=True)[1]
    assert "backend" not in text


def test_single_check_has_a_path_of_its_own():
    """/readyz/CHECK answers for that probe; an unknown one is 404."""
    assert HEALTH.readyz("objects_were_tried", verbose=False)[0] == 503
    assert HEALTH.readyz("nothing", verbose=False)[0] == 404

"""The cache of compiled programs on disk: hits, misses, damage, limits, processes."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.compile import persistent
from pullback.compile.persistent import counts

X = np.linspace(0.1, 1, 8, dtype=np.float32)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty cache that stores whatever compiles."""
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(persistent, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(counts, "unswept", None)
    return tmp_path


def changes(call):
    """How many programs `call` loads, compiles and stores."""
    before = counts.loaded, counts.compiled, counts.stored
    call()
    after = counts.loaded, counts.compiled, counts.stored
    return tuple(b - a for a, b in zip(before, after, strict=True))


def entries(place):
    return sorted(p for p in place.iterdir() if p.suffix == ".program")


def fresh(scale=2.0):
    """A function unknown to the caches in memory; the same program each time."""

    def f(x):
        return pnp.sin(x) * scale

    jitted = pullback.jit(f)
    return lambda: np.asarray(jitted(X))


def test_the_second_compile_of_a_program_is_a_load(place):
    assert changes(fresh()) == (0, 1, 1)
    assert changes(fresh()) == (1, 0, 0)
    assert changes(fresh(3.0)) == (0, 1, 1)
    np.testing.assert_allclose(fresh()(), np.sin(X) * 2, rtol=1e-6)


def test_the_same_program_on_another_line_is_a_hit(place):
    one = pullback.jit(lambda x: pnp.cos(x) + 1)
    two = pullback.jit(
        lambda x: (
            pnp.cos(x) + 1  # further down
        )
    )
    assert changes(lambda: one(X)) == (0, 1, 1)
    assert changes(lambda: two(X)) == (1, 0, 0)


def test_a_loaded_program_has_its_analyses(place):
    fresh()()
    compiled = pullback.jit(lambda x: pnp.sin(x) * 2.0).lower(X).compile()
    again = pullback.jit(lambda x: pnp.sin(x) * 2.0).lower(X).compile()
    assert again.cost_analysis() == compiled.cost_analysis()
    assert again.memory_analysis() == compiled.memory_analysis()
    assert "HloModule" in again.as_text()


def test_options_and_dtypes_are_part_of_the_key(place):
    lowered = pullback.jit(lambda x: x * 2).lower(X)
    fast = {"xla_cpu_enable_fast_math": True}
    assert changes(lambda: lowered.compile(fast)) == (0, 1, 1)
    assert changes(lambda: lowered.compile(fast)) == (1, 0, 0)
    assert changes(lowered.compile) == (0, 1, 1)


@pytest.mark.parametrize("damage", ["empty", "half", "flipped", "foreign", "renamed"])
def test_a_damaged_entry_is_a_miss_and_is_replaced(place, damage):
    fresh()()
    (path,) = entries(place)
    data = bytearray(path.read_bytes())
    if damage == "renamed":
        fresh(5.0)()
        (other,) = (p for p in entries(place) if p != path)
        data = other.read_bytes()
    elif damage == "flipped":
        data[-1] ^= 1
    else:
        kept = {"empty": b"", "half": data[: len(data) // 2], "foreign": b"hello"}
        data = kept[damage]
    path.write_bytes(data)
    run = fresh()
    assert changes(run) == (0, 1, 1)
    np.testing.assert_allclose(run(), np.sin(X) * 2, rtol=1e-6)
    assert changes(fresh()) == (1, 0, 0)


def test_what_xla_cannot_load_is_a_miss(place):
    fresh()()
    (path,) = entries(place)
    key = bytes.fromhex(path.stem)
    persistent._store(path, key, b"no program")
    assert changes(fresh()) == (0, 1, 1)


def test_quick_compiles_are_not_stored(place, monkeypatch):
    monkeypatch.setattr(persistent, "WORTH_SECONDS", 1e9)
    assert changes(fresh()) == (0, 1, 0)
    assert not list(place.iterdir())


@pytest.mark.parametrize("value", ["", "0"])
def test_the_variable_switches_it_off(place, monkeypatch, value):
    monkeypatch.setenv("PULLBACK_CACHE_DIR", value)
    assert persistent.folder() is None
    assert changes(fresh()) == (0, 1, 0)


def test_the_folder_is_the_platforms(monkeypatch, tmp_path):
    monkeypatch.delenv("PULLBACK_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    persistent._platform_folder.cache_clear()
    try:
        assert persistent.folder() == tmp_path / "pullback"
    finally:
        persistent._platform_folder.cache_clear()


def test_a_folder_that_cannot_be_written_is_no_error(place, monkeypatch):
    blocked = place / "file"
    blocked.write_text("")
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(blocked / "below"))
    assert changes(fresh()) == (0, 1, 0)


def test_the_size_limit_drops_what_was_used_longest_ago(place, monkeypatch):
    fresh(1.0)()
    (first,) = entries(place)
    size = first.stat().st_size
    monkeypatch.setenv("PULLBACK_CACHE_SIZE", str(int(2.5 * size)))
    fresh(2.0)()
    (second,) = (p for p in entries(place) if p != first)
    for age, path in ((200, first), (100, second)):
        os.utime(path, (time.time() - age,) * 2)
    assert changes(fresh(1.0)) == (1, 0, 0)  # used: no longer the oldest
    fresh(3.0)()
    left = entries(place)
    assert first in left
    assert second not in left
    assert sum(p.stat().st_size for p in left) <= 2.5 * size


def test_left_overs_of_killed_processes_go_and_other_files_stay(place):
    old, new = place / "a.unfinished", place / "b.unfinished"
    mine = place / "notes.txt"
    for path in (old, new, mine):
        path.write_bytes(b"x" * 100)
    os.utime(old, (0, 0))
    persistent.sweep(place, 0)
    assert {p.name for p in place.iterdir()} == {"b.unfinished", "notes.txt"}


PROGRAM = """
    import sys
    import numpy as np
    import pullback, pullback.numpy as pnp
    from pullback.compile.persistent import counts

    x = np.linspace(0.1, 1, 8, dtype=np.float32)
    for i in range(int(sys.argv[1])):
        y = pullback.jit(lambda x: pnp.tanh(pnp.sin(x) * float(i)) @ x)(x)
        want = np.tanh(np.sin(x) * i) @ x
        assert abs(float(y) - want) < 1e-5
    print("counts", counts.loaded, counts.compiled)
"""


LAPACK = """
    import numpy as np, pullback, pullback.numpy as pnp
    from pullback.compile.persistent import counts

    a = np.eye(4, dtype=np.float32) * 4 + 1
    c, e = pullback.jit(lambda a: (pnp.linalg.cholesky(a), pnp.linalg.eigh(a)[0]))(a)
    np.testing.assert_allclose(c @ c.T, a, rtol=1e-5)
    np.testing.assert_allclose(e, np.linalg.eigvalsh(a), rtol=1e-5)
    print("counts", counts.loaded, counts.compiled)
"""


def start(place, n, program=PROGRAM):
    env = {**os.environ, "PULLBACK_CACHE_DIR": str(place)}
    command = [sys.executable, "-c", textwrap.dedent(program), str(n)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def finish(process):
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    loaded, compiled = out.split()[1:]
    return int(loaded), int(compiled)


@pytest.mark.slow
def test_another_process_compiles_nothing(tmp_path):
    loaded, compiled = finish(start(tmp_path, 3))
    assert compiled
    again = finish(start(tmp_path, 3))
    assert again == (loaded + compiled, 0)


@pytest.mark.slow
def test_a_loaded_program_finds_the_routines_it_calls(tmp_path):
    loaded, compiled = finish(start(tmp_path, 0, LAPACK))
    assert finish(start(tmp_path, 0, LAPACK)) == (loaded + compiled, 0)


@pytest.mark.slow
def test_processes_at_once_and_a_kill_lose_nothing(tmp_path):
    running = [start(tmp_path, 6) for _ in range(3)]
    killed = start(tmp_path, 40)
    deadline = time.monotonic() + 60
    while not entries(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    for process in running:
        finish(process)
    assert finish(start(tmp_path, 6))[1] == 0
    for path in entries(tmp_path):
        data = path.read_bytes()
        assert data.startswith(persistent._MAGIC + bytes.fromhex(path.stem))

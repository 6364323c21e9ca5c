"""Clients, devices, lazy loading and life beside JAX."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pullback.xla import client


def python(code, **environment):
    """Runs code in a process of its own; returns what it printed."""
    import os

    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout


def test_the_cpu_client():
    made = client.client()
    assert made is client.client("cpu")
    assert made.platform == "cpu"
    assert client.device_count() == len(client.devices()) == len(made.devices)
    device = made.devices[0]
    assert (device.id, device.platform, device.device_kind) == (0, "cpu", "cpu")
    assert client.client_of(device) is made
    assert "cpu" in repr(made)


def test_an_unknown_platform_names_the_known_ones():
    with pytest.raises(ValueError, match="no platform named 'abacus'; there are: cpu"):
        client.client("abacus")


def test_a_plugin_that_cannot_load(monkeypatch):
    monkeypatch.setattr(client, "_makers", dict(client._makers))
    client.register_plugin("pullback_absent", "/no/such/library.so")
    assert "pullback_absent" in client.platforms()
    with pytest.raises(client.BackendError, match="library"):
        client.client("pullback_absent")


def test_a_device_of_no_client():
    with pytest.raises(ValueError, match="belongs to no client"):
        client.client_of(object())


def test_one_client_for_many_threads(monkeypatch):
    monkeypatch.setattr(client, "_clients", {})
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: client.client(), range(32)))
    assert len(set(map(id, made))) == 1


def test_loading_is_lazy_and_silent_and_devices_follow_the_flags():
    out = python(
        """if True:
        import sys
        from pullback.xla import buffers, client, pytree, traceback
        assert "jaxlib.mlir" not in sys.modules
        assert not client._clients
        assert client.device_count() == 3
        from pullback.xla import emitter
        assert "jaxlib.mlir" in sys.modules
        assert "jax" not in sys.modules and "scipy" not in sys.modules
        print("fine")
        """,
        XLA_FLAGS="--xla_force_host_platform_device_count=3",
    )
    assert out == "fine\n"


BESIDE_JAX = """if True:
    import sys
    import numpy as np
    first = sys.argv[1:] == ["jax first"]
    def with_jax():
        import jax
        x = jax.numpy.arange(3, dtype="float32")
        assert jax.jit(lambda x: x * 2)(x).tolist() == [0, 2, 4]
        assert jax.numpy.asarray(np.ones(2)).dtype == "float32"
        assert jax.grad(jax.numpy.sin)(0.0) == 1
    def with_pullback():
        from pullback.xla import buffers, client, dlpack, pytree
        from pullback.xla.emitter import Module
        x = np.array([1 + 2**-40, -2.0])
        out = buffers.HostAval(x.shape, x.dtype)
        module = Module()
        module.function("main", [out], lambda b, x: [b.negate(x)], public=True)
        run = client.compile_module(module.bytecode()).bind([lambda y: y], [out])
        (y,) = run([buffers.put(x)])
        assert buffers.to_numpy(y, x.dtype).tolist() == (-x).tolist()
        buffers.block(y), buffers.nbytes(y), buffers.is_ready(y)
        z, dtype = buffers.from_dlpack(dlpack.to_dlpack(y))
        assert dtype == "float64"
        for name in ("int4", "bfloat16"):
            import ml_dtypes
            n = np.arange(3).astype(getattr(ml_dtypes, name))
            assert buffers.to_numpy(buffers.put(n), n.dtype).tolist() == n.tolist()
        leaves, tree = pytree.flatten([y, {"a": None}])
        assert leaves[0] is y
        buffers.delete(y)
    if first:
        with_jax()
    with_pullback()
    assert first or "jax" not in sys.modules
    with_jax()
    with_pullback()
    print("fine")
"""


@pytest.mark.parametrize("order", ["jax first", "jax after"])
def test_jax_in_the_same_process(order):
    pytest.importorskip("jax")
    run = subprocess.run(
        [sys.executable, "-c", BESIDE_JAX, order], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (0, "fine\n"), run.stderr

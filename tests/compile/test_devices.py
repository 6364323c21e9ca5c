"""Eight virtual devices: programs run where their committed arguments are."""

import os
import subprocess
import sys
import textwrap

import pytest

PRELUDE = """
    import numpy as np, pytest, pullback, pullback.numpy as pnp
    from pullback.errors import RuntimeFailure
    d = pullback.devices()
    assert len(d) == 8
    x = np.arange(4, dtype=np.float32)
"""

CASES = {
    "jit_follows": """
        f = pullback.jit(lambda x, y: x * y + 1)
        for i in (0, 3, 5, 3):
            a = pullback.device_put(x, d[i])
            for _ in range(2):
                out = f(a, x)
                assert out.device == d[i] and out.committed
                np.testing.assert_array_equal(out, x * x + 1)
            assert f(out, pnp.asarray(x)).device == d[i]
        assert f(x, x).device == d[0] and not f(x, x).committed
        c = pnp.asarray(x)
        g = pullback.jit(lambda x: x + c)
        assert g(pullback.device_put(x, d[2])).device == d[2]
    """,
    "eager_follows": """
        big = np.ones((64, 64), np.float32)
        a = pullback.device_put(big, d[4])
        assert (a @ a).device == d[4]
        assert pnp.sin(a).device == d[4]
        assert pullback.grad(lambda a: pnp.sum(pnp.sin(a) @ big))(a).device == d[4]
        assert pullback.vmap(pnp.sin)(a).device == d[4]
    """,
    "mixing": """
        a, b = (pullback.device_put(x, d[i]) for i in (1, 2))
        first = pullback.device_put(x, d[0])
        f = pullback.jit(lambda x, y: x + y)
        for pair in ((a, b), (first, a)):
            with pytest.raises(RuntimeFailure, match="several devices: cpu"):
                f(*pair)
        np.testing.assert_array_equal(f(a, b.to_device(d[1])), x * 2)
    """,
    "default_device": """
        with pullback.default_device(d[6]):
            a = pnp.asarray(x)
            assert a.device == d[6] and not a.committed
            assert pullback.jit(lambda x: x + 1)(x).device == d[6]
            assert pnp.sin(np.ones((64, 64), np.float32)).device == d[6]
        assert pnp.asarray(x).device == d[0]
        with pytest.raises(TypeError, match="not a device"):
            with pullback.default_device("cpu:3"):
                pass
    """,
    "donation": """
        f = pullback.jit(lambda x: x + 1, donate_argnums=0)
        a = pullback.device_put(x, d[3])
        assert f(a).device == d[3]
        assert a.is_deleted()
    """,
    "aot_and_cache": """
        import os, tempfile
        from pullback.compile import persistent
        os.environ["PULLBACK_CACHE_DIR"] = tempfile.mkdtemp()
        persistent.WORTH_SECONDS = 0
        a = pullback.device_put(x, d[3])
        for loaded in (0, 2):
            f = pullback.jit(lambda x: pnp.cos(x))
            compiled = f.lower(x).compile()
            assert compiled(a).device == d[3]
            np.testing.assert_allclose(compiled(a), np.cos(x), rtol=1e-6)
        assert persistent.counts.loaded >= 2
    """,
    "dlpack": """
        a = pullback.dlpack.from_dlpack(x, device=d[5])
        assert a.device == d[5]
        np.testing.assert_array_equal(np.from_dlpack(a + 1), x + 1)
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_with_eight_devices(case):
    flags = "--xla_force_host_platform_device_count=8"
    env = {**os.environ, "XLA_FLAGS": flags}
    program = textwrap.dedent(PRELUDE) + textwrap.dedent(CASES[case])
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

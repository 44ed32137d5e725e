"""The loops of compiled.pyx, or None where hybridcli was installed without a C++ compiler.

Whoever uses one has a slower way, with numpy or polars, to the same result.
"""

try:
    from hybridcli import compiled as loops
except ImportError:
    loops = None  # type: ignore[assignment]

__all__ = ["loops"]

"""Settings that hold for every test: Hypothesis profiles and a matplotlib that needs no screen."""

import os

from hypothesis import HealthCheck, settings

# Examples that run in a subprocess inherit it too.
os.environ.setdefault("MPLBACKEND", "Agg")

# No time enters a verdict: the first call of a kernel compiles it, and a busy machine is slow.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)

# dev draws new examples each run and remembers failures; ci draws the same ones each time, so that a red run is about
# the change and can be repeated; deep searches for what both missed, and is run by hand.
settings.register_profile("dev", COMMON, max_examples=50)
settings.register_profile("ci", COMMON, max_examples=60, derandomize=True, database=None)
settings.register_profile("deep", COMMON, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev"))

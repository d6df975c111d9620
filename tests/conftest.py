"""Settings of the whole suite: a property may take its time, since speed is measured by benchmarks alone."""

from hypothesis import settings

settings.register_profile("remedy", deadline=None)
settings.load_profile("remedy")

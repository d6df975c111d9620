"""Measurements with goals: `make bench` runs every module of this folder that has a `measure`."""

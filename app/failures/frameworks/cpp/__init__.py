"""Test runners of C and C++."""

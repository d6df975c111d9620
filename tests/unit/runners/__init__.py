"""Tests of app/runners: rules as tables, hostile input, files."""

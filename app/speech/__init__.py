"""The hands of `jobs/deliver`: one short module for each kind of write, which looks before it creates (GH-13)."""

"""The real LiteLLM proxy in front of the Devin-like servers; only by `make test-agents`."""

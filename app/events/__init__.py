"""What GitHub tells us: payloads, routing, handlers."""

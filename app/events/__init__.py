"""What Remedy hears: payloads (pure), the table of what is stored, and the handlers."""

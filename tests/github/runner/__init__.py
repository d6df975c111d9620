"""A tiny Actions: it reads workflow files, really runs their steps, and writes logs as Actions writes them."""

"""Small plugins that test frameworks load from outside the tree; they run inside the sandbox, never here."""

"""What changes the state and says so by webhook; API operations and control verbs both go through here."""

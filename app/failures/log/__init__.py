"""From raw bytes of a job log to cleaned lines that wake the readers of the frameworks."""

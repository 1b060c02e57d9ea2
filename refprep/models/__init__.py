"""Where weights come from, and the adapters behind which untyped code stops."""

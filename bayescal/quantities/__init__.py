"""The rooms: one paper each, all of one shape."""

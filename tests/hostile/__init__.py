"""Calls of every public function, method, fit and command with hostile arguments."""

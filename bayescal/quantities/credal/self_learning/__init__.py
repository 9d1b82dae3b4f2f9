"""Self-learning from hard, soft and credal labels."""

"""Servers of other frameworks in front of reasoning-gym-server, each made by its framework's own package."""

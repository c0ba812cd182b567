"""`python -m reasoning_gym_server` is the command line `reasoning-gym-server`."""

from .launcher import main

main()

"""Integrations, one file per trainer, named `rg_*` so that none shadows the trainer's own package.

Each file imports only the client and, where needed, modules of its trainer. Trainers can import it by name or load it by path. This
command prints the directory:

    python -c "import reasoning_gym_client.integrations as files; print(files.__path__[0])"

The integrations read REASONING_GYM_URL, REASONING_GYM_API_KEY and REASONING_GYM_RUN from the environment
of every process that loads them. See `reasoning_gym_client.TrainerClient`.
"""

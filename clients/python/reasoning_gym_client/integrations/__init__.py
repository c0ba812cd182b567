"""Files that trainers load: one for each trainer, named `rg_*` so that none shadows the trainer's own package.

Each file imports nothing but the client and, where it must, light modules of its trainer, so that it also works when it is
loaded by its path:

    python -c "import reasoning_gym_client.integrations as files; print(files.__path__[0])"

They read REASONING_GYM_URL, REASONING_GYM_API_KEY, REASONING_GYM_RUN and REASONING_GYM_PER_STEP from the environment of every
process that loads them: see `reasoning_gym_client.TrainerClient`.
"""

"""When a run is rewound: what counts as a resume of its trainer."""

import os
import subprocess
import sys
import unittest
import unittest.mock

from world import SERVER

from reasoning_gym_client import Client, StepWatch, Unreachable
from reasoning_gym_client._resume import _resume_id
from reasoning_gym_client.integrations import rg_verl


class Resumes(unittest.TestCase):
    def test_a_trainer_that_leaves_out_steps_has_not_resumed(self) -> None:
        run = unittest.mock.Mock()
        steps = StepWatch(run, first=1, leaves_out=True)
        for step in (1, 3, 3, 5):
            steps.begin(step)
        self.assertEqual(run.end_step.call_args_list, [unittest.mock.call(0), unittest.mock.call(2), unittest.mock.call(4)])
        run.rewind.assert_not_called()
        StepWatch(run, first=1, leaves_out=True).begin(7)
        run.rewind.assert_called_once()
        self.assertEqual(run.rewind.call_args.args, (6,))

    def test_a_rewind_that_failed_is_tried_again(self) -> None:
        run = unittest.mock.Mock()
        run.get.return_value = {"progress": {"step": 5}}
        run.rewind.side_effect = [Unreachable("away"), None]
        steps = StepWatch(run, alone=False)
        with self.assertRaises(Unreachable):
            steps.begin(3)
        steps.begin(3)
        steps.begin(3)
        self.assertEqual(run.rewind.call_count, 2)

    def test_ranks_of_one_launch_have_one_resume_id_and_those_of_the_next_another(self) -> None:
        ranks = "import sys; sys.path[:0] = sys.argv[1].split(':'); from reasoning_gym_client._resume import _resume_id; print(_resume_id())"
        launch = (
            "import os, subprocess, sys; rank = {**os.environ, 'TORCHELASTIC_RUN_ID': 'none'}; below_shell = ['sh', '-c', '\"$@\"; :', 'sh'];"
            "[subprocess.run([*below_shell, sys.executable, '-c', *sys.argv[1:]], env=rank, check=True) for _ in range(2)]"
        )
        given = [
            subprocess.run(
                [sys.executable, "-c", launch, ranks, ":".join(sys.path)],
                env={**os.environ, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "SLURM_JOB_ID": "7"},
                check=True,
                capture_output=True,
                text=True,
            ).stdout.split()
            for _ in range(2)
        ]
        self.assertEqual([(len(ids), len(set(ids))) for ids in given], [(2, 1), (2, 1)])
        self.assertNotEqual(given[0], given[1])

    def test_ranks_of_ray_whose_parent_outlives_launches_have_no_resume_id(self) -> None:
        with unittest.mock.patch.dict(os.environ, {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "RANK": "1"}):
            for name in ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "SLURM_NTASKS"):
                os.environ.pop(name, None)
            self.assertIsNone(_resume_id())
            os.environ.update(SLURM_JOB_ID="7", SLURM_STEP_ID="0", SLURM_NTASKS="1", SLURM_PROCID="0")  # ray start, in one step
            self.assertIsNone(_resume_id())
            os.environ.update(SLURM_NTASKS="2", SLURM_PROCID="1")  # srun started the ranks
            self.assertIsNotNone(_resume_id())

    def test_ranks_on_several_machines_have_a_resume_id_only_from_slurm(self) -> None:
        torchrun = {"WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "fixed", "TORCHELASTIC_RESTART_COUNT": "0"}
        with unittest.mock.patch.dict(os.environ, torchrun):
            os.environ.pop("SLURM_STEP_ID", None)
            self.assertIsNone(_resume_id())  # all that is known is the same when it is launched again
            os.environ.update(SLURM_JOB_ID="7", SLURM_STEP_ID="0")
            first = _resume_id()
            self.assertEqual(first, _resume_id())
            os.environ["TORCHELASTIC_RESTART_COUNT"] = "1"
            self.assertNotEqual(first, _resume_id())

    def test_steps_of_verl_are_those_of_its_loader(self) -> None:
        with unittest.mock.patch.object(rg_verl, "_client", lambda: Client(SERVER)):
            prompts = rg_verl.LivePrompts("any", config={"train_batch_size": 64, "gen_batch_size": 2048})
        self.assertEqual((prompts.per_step, prompts.positions.per_step), (2048, 1024))

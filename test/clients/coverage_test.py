"""Each call of the API has a method in both Python clients, or a reason why not."""

import json
import os
import re
import unittest

import world  # noqa: F401  makes the client importable

import reasoning_gym_client

DOCUMENTS = os.path.join(os.path.dirname(__file__), "..", "..", "openapi")

METHODS = {
    "listTasks": "Client.tasks",
    "getTask": "Client.task",
    "getTaskValidation": "Client.task_validation",
    "createItems": "Client.make Run.items Run.positions",
    "getItem": "Client.item",
    "findItem": "Client.find_item",
    "scoreCompletions": "Client.score Client.rewards",
    "submitRollouts": "Run.post Run.post_many",
    "getGroup": "Run.group",
    "listRuns": "Client.runs",
    "getRunHistory": "Run.history",
    "resetCurriculum": "Run.reset_curriculum",
    "changeRun": "Run.finish Run.archive Run.reopen Run.set_mix",
    "listRunMixes": "Run.mixes",
    "listRunMarks": "Run.marks",
    "endStep": "Run.end_step",
    "rewindRun": "Run.rewind",
    "forkRun": "Client.fork",
    "updateRun": "Run.put",
    "getRun": "Run.get",
    "deleteRun": "Run.delete",
    "getRunMetrics": "Run.metrics Run.metrics_frame Client.average_runs",
    "getRunFlow": "Run.flow",
    "getRunHistograms": "Run.histograms",
    "getRunTaskMetrics": "Run.task_metrics",
    "restoreCheckpoint": "Run.restore",
    "createCheckpoint": "Run.checkpoint",
    "startDemo": "Client.start_demo",
    "listRetainedGroups": "Run.groups",
    "getRetainedGroup": "Run.retained_group",
    "takeBatch": "Run.batch",
    "getBatch": "Run.read_batch",
    "acknowledgeBatch": "Run.ack",
    "listDumps": "Client.dumps",
    "getDump": "Client.dump",
    "deleteDump": "Client.delete_dump",
    "exportRun": "Run.export",
    "startRescore": "Run.rescore",
    "getRescore": "Run.rescore",
    "listRescores": "Run.rescores",
    "startEval": "Client.start_eval Client.evaluate",
    "listEvals": "Client.evals",
    "listSuites": "Client.suites",
    "getSuite": "Client.suite",
    "getEval": "Client.eval Client.follow_eval",
    "cancelEval": "Client.cancel_eval Client.delete_eval",
    "resumeEval": "Client.resume_eval",
    "compareEvals": "Client.compare_evals",
    "listFlippedItems": "Client.flipped_items",
    "streamEvalEvents": "Client.eval_events",
    "listEvalSamples": "Client.eval_samples Client.eval_frame",
    "getEvalSample": "Client.eval_sample",
    "getEvalReport": "Client.eval_report",
    "getEvalHubResults": "Client.eval_hub_results",
    "listEvalItems": "Client.eval_items",
    "submitEvalCompletions": "Client.complete_eval",
    "finishEval": "Client.finish_eval",
    "startCollection": "Run.collect",
    "listCollections": "Run.collections",
    "getCollection": "Run.collection Run.follow_collection",
    "cancelCollection": "Run.cancel_collection Run.delete_collection",
    "streamCollectionEvents": "Run.collection_events",
    "resumeCollection": "Run.resume_collection",
    "scoreSamplesOfRun": "Client.sample Client.samples",
    "getDataset": "Client.dataset_rows Client.dataset",
    "getSuiteDataset": "Client.dataset_rows Client.dataset",
    "listFailedJobs": "Client.failed_jobs",
    "retryFailedJob": "Client.retry_job",
    "getCaller": "Client.whoami",
    "getOverview": "Client.overview",
    "streamOverviewEvents": "Client.overview_events",
    "getMetrics": "Client.server_metrics",
    "checkReadiness": "Client.ready",
}
#: Paths that trainers and orchestrators call in formats of their own.
NO_METHOD = {
    r"/(openrlhf|slime)(/|$)": "the wire of a trainer, which brings its own client",
    r".*\.gz": "the same rows as without .gz, for readers that unpack files",
    r"/livez": "for orchestrators; `ready` says more",
}


class Coverage(unittest.TestCase):
    def test_each_call_has_a_method_or_a_reason(self) -> None:
        paths = {}
        for name in ("openapi.json", "trainers.json"):
            with open(os.path.join(DOCUMENTS, name)) as file:
                paths.update(json.load(file)["paths"])
        calls = {one["operationId"]: path for path, item in paths.items() for one in item.values() if isinstance(one, dict)}
        missing = [
            f"{name} ({path})"
            for name, path in calls.items()
            if name not in METHODS and not any(re.match(pattern, path) for pattern in NO_METHOD)
        ]
        self.assertEqual(missing, [])
        self.assertEqual(set(METHODS) - set(calls), set())

    def test_both_clients_have_each_method_with_a_docstring(self) -> None:
        for method in {method for methods in METHODS.values() for method in methods.split()}:
            owner, name = method.split(".")
            for kind in (owner, f"Async{owner}"):
                self.assertTrue(getattr(getattr(reasoning_gym_client, kind), name).__doc__, f"{kind}.{name}")

"""A server of the Model Context Protocol, with tools to list tasks, get an item and score an answer, for coding agents."""

# mypy: disable-error-code="import-not-found,untyped-decorator"
# pyright: reportMissingImports=false
# The package mcp may be missing where types are checked.

import argparse
from typing import Annotated, Any, Awaitable, Optional

from .. import AsyncClient, ReasoningGymError

SUMMARY = "server of the Model Context Protocol, for coding agents"
INSTRUCTIONS = (
    "Reasoning tasks with answers that a program checks. List the tasks, get an item, show its question to a model or solve it, and"
    " score the answer. The reference answer is never shown."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1); the path is /mcp")
    parser.add_argument("--port", type=int, default=8004, help="port to listen on (8004)")
    parser.add_argument("--stdio", action="store_true", help="use standard input and output, for agents that start the server")


def main(arguments: argparse.Namespace) -> None:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import Field

    client = AsyncClient(arguments.url, deadline_s=50, connect_for_s=50)  # agents wait at most a minute for a tool
    server = MCPServer("reasoning-gym-server", instructions=INSTRUCTIONS, log_level="WARNING")

    # The return types are `dict` rather than `Dict`, which the package would put into a field `result`.
    async def ask(call: Awaitable[Any]) -> Any:
        try:
            return await call
        except ReasoningGymError as error:
            raise ToolError(str(error)) from error  # the model sees only the text of this class

    @server.tool(description="Lists the reasoning tasks: name, category, and whether their difficulty can be set.")
    async def list_tasks(
        category: Annotated[Optional[str], Field(description="Only tasks of this category")] = None,
        query: Annotated[Optional[str], Field(description="Only tasks whose name or category contains this text")] = None,
    ) -> dict[str, Any]:
        tasks = await ask(client.tasks(category=category, q=query))
        return {"tasks": [{name: task[name] for name in ("name", "category", "adjustable")} for task in tasks]}

    @server.tool(description="Makes an item of a task and returns its question and ID. Equal arguments return equal items.")
    async def get_item(
        item_id: Annotated[Optional[str], Field(description="The item again, in place of a task")] = None,
        task: Annotated[Optional[str], Field(description="Name of a task, from list_tasks")] = None,
        difficulty: Annotated[
            Optional[float], Field(description="0 is easiest, 1 hardest; without it the defaults of the library apply")
        ] = None,
        config: Annotated[
            Optional[dict[str, Any]], Field(description="Fields of the config of the task, in place of difficulty")
        ] = None,
        seed: Annotated[int, Field(description="Items of one task with other seeds are other items")] = 0,
        index: Annotated[int, Field(description="Index of the item among those of the seed")] = 0,
    ) -> dict[str, Any]:
        if item_id is not None:
            item = await ask(client.item(item_id))
        elif task is not None:
            made = await ask(client.make(task, difficulty=difficulty, config=config, seed=seed, index=index, count=1))
            if not made:
                raise ToolError("the task makes no item at this seed: give another one")
            item = made[0]
        else:
            raise ToolError("task: give a task, or an item_id")
        fields = ("task", "category", "difficulty", "question", "messages")
        return {"item_id": item["id"], **{name: item[name] for name in fields}}

    @server.tool(description="Scores an answer to an item, from 0 to 1. Give either answer or completion.")
    async def score_answer(
        item_id: Annotated[str, Field(description="From get_item")],
        answer: Annotated[Optional[str], Field(description="The bare answer, without explanations")] = None,
        completion: Annotated[
            Optional[str], Field(description="A whole reply of a model, whose answer stands in <answer> tags")
        ] = None,
    ) -> dict[str, Any]:
        if answer is None and completion is None:
            raise ToolError("answer: give either answer or completion")
        given = {"answer": answer} if completion is None else {"completion": completion}
        scores = await ask(client.samples([{"item_id": item_id, **given}], adapter="mcp"))
        verdict = scores["verdicts"][0]
        fields = ("status", "score", "answer", "fault") if verdict["status"] == "scored" else ("status", "score", "code", "detail")
        return {"item_id": item_id, **{name: verdict[name] for name in fields}}

    if arguments.stdio:
        server.run("stdio")
    else:
        server.run("streamable-http", host=arguments.host, port=arguments.port, json_response=True, stateless_http=True)

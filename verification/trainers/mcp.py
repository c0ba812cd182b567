"""The client of the Model Context Protocol, version 2, against the module: by the handshake, as it probes by itself, and over pipes."""

import asyncio
import os
import sys

from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from served import Served
from testbed import check, control, items, meanwhile, same, unscored, url


async def use(session, name):
    item = items[0]
    tools = (await session.list_tools()).tools
    same(f"{name}: tools", [tool.name for tool in tools], ["list_tasks", "get_item", "score_answer"])
    found = await session.call_tool("list_tasks", {"query": "leg"})
    same(f"{name}: tasks", [task["name"] for task in found.structured_content["tasks"]], ["leg_counting"])
    shown = await session.call_tool("get_item", {"item_id": item["id"]})
    same(f"{name}: an item", shown.structured_content["question"], item["question"])
    made = await session.call_tool("get_item", {"task": item["task"], "seed": 7000})
    same(f"{name}: the item of a seed", made.structured_content["item_id"], item["id"])
    for kind, score in (("right", 1), ("wrong", 0), ("malformed", 0)):
        scored = await session.call_tool("score_answer", {"item_id": item["id"], "completion": item[kind]})
        same(f"{name}: {kind}", scored.structured_content["score"], score)
    scored = await session.call_tool("score_answer", {"item_id": item["id"], "answer": item["answer"]})
    same(f"{name}: a bare answer", scored.structured_content["score"], 1)
    verdict = await session.call_tool("score_answer", {"item_id": unscored["item"]["id"], "answer": unscored["answer"]})
    same(f"{name}: unscored", [verdict.structured_content[key] for key in ("score", "code")], [None, unscored["code"]])
    wrong = await session.call_tool("get_item", {"task": "no_such_task"})
    check(f"{name}: an error in words", wrong.is_error and "unknown_task" in wrong.content[0].text, wrong)


async def main():
    module = Served("mcp")
    async with streamable_http_client(f"{module.url}/mcp") as (read, write, *_):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await use(session, "handshake")
    async with Client(streamable_http_client(f"{module.url}/mcp")) as client:
        await use(client, "probing")
        module.restart()
        await use(client, "restart of the module")
        control("stop-server")
        waking = meanwhile(2, "start-server")
        await use(client, "restart of the server")
        waking.join()
    command = ["-m", "reasoning_gym_client.serve", "mcp", "--stdio", "--url", url]
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ)))) as client:
        await use(client, "pipes")


asyncio.run(main())

"""The client of the Model Context Protocol, version 2, against /mcp: by the handshake, and as it probes by itself."""

import asyncio

import httpx2
from mcp import Client, ClientSession
from mcp.client.streamable_http import streamable_http_client
from testbed import api_key, check, items, plain_url, same, unscored

HEADERS = {"Authorization": f"Bearer {api_key}"}


async def use(session, name):
    item = items[0]
    tools = (await session.list_tools()).tools
    same(f"{name}: tools", [tool.name for tool in tools], ["list_tasks", "get_item", "score_answer"])
    shown = await session.call_tool("get_item", {"item_id": item["id"]})
    same(f"{name}: an item", shown.structured_content["question"], item["question"])
    for kind, score in (("right", 1), ("wrong", 0), ("malformed", 0)):
        scored = await session.call_tool("score_answer", {"item_id": item["id"], "completion": item[kind]})
        same(f"{name}: {kind}", scored.structured_content["score"], score)
    verdict = await session.call_tool("score_answer", {"item_id": unscored["item"]["id"], "answer": unscored["answer"]})
    same(f"{name}: unscored", verdict.structured_content["code"], unscored["code"])
    wrong = await session.call_tool("get_item", {"task": "no_such_task"})
    check(f"{name}: an error in words", wrong.is_error and "unknown_task" in wrong.content[0].text, wrong)


async def main():
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
        async with streamable_http_client(f"{plain_url}/mcp", http_client=http) as (read, write, *_):
            async with ClientSession(read, write) as session:
                await session.initialize()
                await use(session, "handshake")
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
        async with Client(streamable_http_client(f"{plain_url}/mcp", http_client=http)) as client:
            await use(client, "probing")


asyncio.run(main())

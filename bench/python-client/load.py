"""Posts groups with one client and prints its figures as JSON: load.py CLIENT URL CONCURRENT POSTS, where CLIENT is ours, httpx or threads."""

import asyncio
import concurrent.futures
import json
import resource
import sys
import time
import uuid

from reasoning_gym_client import AsyncClient, Client

KIND, URL, CONCURRENT, POSTS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
TEXT = "<think>" + "so it goes " * 300 + "</think> <answer>12</answer>"


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def group(item, number):
    return {
        "run": RUN.name,
        "item_id": item["id"],
        "group_id": str(number),
        "rollouts": [{"completion": TEXT, "tokens": list(range(1000))} for _ in range(4)],
    }


async def with_ours():
    async with AsyncClient(URL, connections=256, gzip_above=None) as client:
        await run_all(lambda body: client.call("POST", "/rollouts", body))


async def with_httpx():
    import httpx

    limits = httpx.Limits(max_connections=256, max_keepalive_connections=256)
    async with httpx.AsyncClient(base_url=URL, limits=limits, timeout=None, trust_env=False) as client:

        async def post(body):
            response = await client.post("/rollouts", json=body)
            response.raise_for_status()
            return response.json()

        await run_all(post)


async def run_all(post):
    turns = asyncio.Semaphore(CONCURRENT)

    async def timed(number):
        async with turns:
            began = time.perf_counter()
            await post(group(ITEMS[number % len(ITEMS)], number))
            TIMES.append(time.perf_counter() - began)

    await asyncio.gather(*(timed(number) for number in range(POSTS)))


def with_threads():
    client = Client(URL, gzip_above=None)

    def timed(number):
        began = time.perf_counter()
        client.call("POST", "/rollouts", group(ITEMS[number % len(ITEMS)], number))
        TIMES.append(time.perf_counter() - began)

    with concurrent.futures.ThreadPoolExecutor(min(CONCURRENT, 256)) as pool:
        list(pool.map(timed, range(POSTS)))


TIMES = []
RUN = Client(URL).run(f"bench-{uuid.uuid4().hex[:8]}")
RUN.put(preset="clean", tasks=["chain_sum"], group_size=4, buffer=False)
ITEMS = RUN.items(64)
began, used = time.perf_counter(), processor_time()
if KIND == "threads":
    with_threads()
else:
    asyncio.run(with_ours() if KIND == "ours" else with_httpx())
took, used = time.perf_counter() - began, processor_time() - used
TIMES.sort()
RUN.delete()
print(json.dumps({"rate": POSTS / took, "p50_ms": TIMES[len(TIMES) // 2] * 1e3, "p99_ms": TIMES[int(len(TIMES) * 0.99)] * 1e3, "cpu_us": used / POSTS * 1e6}))

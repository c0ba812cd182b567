"""AsyncClient passes the tests of Client, on a real server and on odd ones, and does what only it does."""

import asyncio
import inspect
import threading
import unittest

import client_test
import wire_test
from world import SERVER, run_name

from reasoning_gym_client import AsyncClient, AsyncPositions, AsyncRun

LOOP = asyncio.new_event_loop()
threading.Thread(target=LOOP.run_forever, daemon=True).start()


def finish(coroutine: object) -> object:
    return asyncio.run_coroutine_threadsafe(coroutine, LOOP).result()


class Blocking:
    """An object of the asynchronous client, used as one of the blocking client: each call is run to its end."""

    def __init__(self, target: object) -> None:
        self.__dict__["target"] = target

    def __getattr__(self, name: str) -> object:
        value = getattr(self.target, name)
        if not callable(value):
            return wrap(value)
        return lambda *arguments, **options: wrap(value(*arguments, **options))

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.target, name, value)

    def __reduce__(self) -> tuple:
        return Blocking, (self.target,)

    def __repr__(self) -> str:
        return repr(self.target).removeprefix("Async")

    def __getitem__(self, position: int) -> object:
        return finish(self.target.get(position))

    def __enter__(self) -> "Blocking":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def wrap(value: object) -> object:
    if inspect.isawaitable(value):
        return wrap(finish(value))
    if inspect.isasyncgen(value):
        return iterate(value)
    return Blocking(value) if isinstance(value, (AsyncClient, AsyncRun, AsyncPositions)) else value


def iterate(stream: object) -> object:
    while True:
        try:
            yield finish(stream.__anext__())
        except StopAsyncIteration:
            return


def blocking_client(*arguments: object, **options: object) -> Blocking:
    return Blocking(AsyncClient(*arguments, **options))




class Together(unittest.TestCase):
    def test_300_posts_at_once_each_get_their_own_answer(self) -> None:
        async def post_all() -> None:
            async with AsyncClient(SERVER, connections=64) as client:
                run = client.run(run_name())
                await run.put(preset="clean", tasks=["chain_sum"], group_size=2, buffer=False)
                items = await run.items(30)
                while len(items) < 30:  # not all were made within the time of one call
                    items += await run.items(30 - len(items))
                posts = [
                    run.post(item["id"], [{"completion": str(k)}, {"completion": "no"}], group_id=f"{place}-{k}", wait_s=60)
                    for k in range(10)
                    for place, item in enumerate(items)
                ]
                groups = await asyncio.gather(*posts)
                self.assertEqual([group["item_id"] for group in groups], [item["id"] for _ in range(10) for item in items])
                while (await run.get())["progress"]["scored_groups"] < 300:  # on a busy machine, some wait longer than `wait_s`
                    await asyncio.sleep(0.1)
                names = [row["group_id"] async for row in run.groups()]
                self.assertEqual(len(names), len(set(names)))
                await run.delete()

        asyncio.run(post_all())

    def test_a_canceled_call_leaves_nothing_for_the_next_one(self) -> None:
        async def cancel() -> None:
            async with AsyncClient(SERVER, connections=1) as client:
                for pause in (0, 0.0005, 0.001, 0.002, 0.005):
                    first = asyncio.ensure_future(client.task("gcd"))
                    await asyncio.sleep(pause)
                    first.cancel()
                    self.assertEqual((await client.task("leg_counting"))["name"], "leg_counting")

        asyncio.run(cancel())

    def test_a_second_event_loop_opens_connections_of_its_own(self) -> None:
        client = AsyncClient(SERVER)
        self.assertEqual([len(asyncio.run(client.tasks())) for _ in range(2)], [105, 105])

    def test_positions_that_are_asked_for_together_are_one_request(self) -> None:
        async def take() -> None:
            async with AsyncClient(SERVER) as client:
                run = client.run(run_name())
                await run.put(tasks=["leg_counting"])
                positions = run.positions(per_step=8)
                items = await asyncio.gather(*(positions.get(k % 8) for k in range(32)))
                self.assertEqual(len({item["id"] for item in items}), 8)
                self.assertEqual([item["id"] for item in items[:8]], [item["id"] for item in await positions.take(range(8))])
                await run.delete()

        asyncio.run(take())


def load_tests(loader: unittest.TestLoader, own: unittest.TestSuite, _: object) -> unittest.TestSuite:
    """The tests of the blocking client, with the other client in its place."""
    for module in (wire_test, client_test):
        module.Client = blocking_client
    suite = unittest.TestSuite([own])
    for module in (wire_test, client_test):
        for test in flatten(loader.loadTestsFromModule(module)):
            if not any(word in test.id() for word in SKIPPED):
                suite.addTest(test)
    return suite


def flatten(suite: unittest.TestSuite) -> list:
    return [test for part in suite for test in (flatten(part) if isinstance(part, unittest.TestSuite) else [part])]


#: What only the blocking client has: threads, forks, and connections by thread.
SKIPPED = ("thread", "fork", "pickle", "kept_connection")

if __name__ == "__main__":
    unittest.main()

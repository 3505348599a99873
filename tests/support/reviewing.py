"""A stand-in for the API server's reviews: what it answers, when, and how it fails, is the test's to say."""

import asyncio

from adapter.wire.identity import Attributes, User


class Reviewing:
    """`users` by token and `may`, the names of those who are allowed, are what it knows.

    With `hold()` its answers wait for `go()`. `failures` are raised first, one per review.
    """

    def __init__(self, users: dict[str, User] | None = None, may: set[str] | None = None) -> None:
        self.users, self.may = users or {}, may or set()
        self.failures: list[Exception] = []
        self.asked: list[object] = []
        self.under_way = self.most_under_way = 0
        self._open = asyncio.Event()
        self._open.set()

    def hold(self) -> None:
        self._open.clear()

    def go(self) -> None:
        self._open.set()

    async def token(self, token: str) -> User | None:
        await self._review(token)
        return self.users.get(token)

    async def access(self, user: User, attributes: Attributes) -> bool:
        await self._review((user, attributes))
        return user.name in self.may

    async def _review(self, question: object) -> None:
        self.asked.append(question)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await self._open.wait()
            if self.failures:
                raise self.failures.pop(0)
        finally:
            self.under_way -= 1

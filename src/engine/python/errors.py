"""The error with which a worker rejects a request: an error code of the API, a sentence, and the invalid field, if known."""


class EngineError(Exception):
    def __init__(self, code, detail, path=None):
        super().__init__(detail)
        self.code, self.detail, self.path = code, detail, path

    def to_message(self):
        return {"error": self.code, "detail": self.detail[:2000], "path": self.path}


def describe_error(error):
    """The type and message of an exception. Those of custom tasks may raise in their own `__str__`."""
    try:
        return f"{type(error).__name__}: {error}"[:500]
    except Exception:
        return type(error).__name__

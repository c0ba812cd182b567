"""What a host can refuse: a code of the server's error table, a sentence, and the field at fault where one is known."""


class Fault(Exception):
    def __init__(self, code, detail, path=None):
        super().__init__(detail)
        self.code, self.detail, self.path = code, detail, path

    def message(self):
        return {"fault": self.code, "detail": self.detail[:2000], "path": self.path}

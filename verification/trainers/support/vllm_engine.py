"""As much of vLLM and of a tokenizer as OpenRLHF's executors of agents ask for: a token is a character."""

import logging
import types

from testbed import hollow, stand_in


def load_agents():
    """Makes openrlhf.utils.agent importable without torch and vLLM."""
    hollow("openrlhf", "openrlhf.utils")
    stand_in("openrlhf.utils.logging_utils", init_logger=logging.getLogger)


class Tensor(list):
    def tolist(self):
        return list(self)


class Tokenizer:
    def __call__(self, text, add_special_tokens, return_tensors):
        return {"input_ids": [Tensor(ord(c) for c in text)]}

    def decode(self, tokens, skip_special_tokens):
        return "".join(chr(t) for t in tokens)

    def apply_chat_template(self, messages, tokenize, add_generation_prompt):
        assert not tokenize and add_generation_prompt
        return "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages) + "<|im_start|>assistant\n"


class Engine:
    """Says what it is told to."""

    def __init__(self, completion):
        self.completion, self.prompts = completion, []

    async def generate(self, tokens, params, multi_modal_data=None):
        self.prompts.append("".join(chr(t) for t in tokens))
        text = self.completion + "<|im_end|>"
        one = types.SimpleNamespace(text=text, token_ids=[ord(c) for c in text], finish_reason="stop", logprobs=None)
        return types.SimpleNamespace(outputs=[one])

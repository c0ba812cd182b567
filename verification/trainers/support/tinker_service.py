"""As much of Tinker's service as the cookbook's loop asks for: it says known answers, right every second time, and learns nothing."""

import itertools

import numpy
import tinker
from testbed import admin
from tinker_cookbook.tokenizer_utils import get_tokenizer


class Now:
    """A future of the service that has its value."""

    def __init__(self, value):
        self.value = value

    def result(self, timeout=None):
        return self.value

    def __await__(self):
        yield from ()
        return self.value


class Path:
    def __init__(self, name):
        self.path = f"tinker://run/weights/{name}"


class Sampler:
    def __init__(self, model):
        self.tokenizer, self.count = get_tokenizer(model), itertools.count()

    def sample(self, prompt, num_samples, sampling_params, **more):
        text = self.tokenizer.decode(prompt.to_ints())
        item = admin.call("POST", "/items/find", {"text": text.split("User:")[-1].removesuffix("Assistant:").strip()})
        k = next(self.count)
        said = f" <answer>{item['answer'] if k % 2 else 'no idea'}</answer>\n\nUser:"
        tokens = numpy.array(self.tokenizer.encode(said, add_special_tokens=False), dtype=numpy.int32)
        logprobs = numpy.full(len(tokens), -0.5, dtype=numpy.float32)
        sequence = tinker.types.SampledSequence("stop", f"sequence {k}", tokens, logprobs)
        return Now(tinker.types.SampleResponse([sequence]))


class Training:
    def __init__(self, model):
        self.sampler = Sampler(model)

    def forward_backward(self, data, **more):
        outputs = [{"logprobs": datum.loss_fn_inputs["logprobs"]} for datum in data]
        return Now(tinker.ForwardBackwardOutput("ArrayRecord", outputs, {}))

    def optim_step(self, parameters):
        return Now(tinker.OptimStepResponse())

    def save_state(self, name, **more):
        return Now(Path(name))

    save_weights_for_sampler = save_state

    def create_sampling_client(self, path, **more):
        return Now(self.sampler)

    def save_weights_and_get_sampling_client(self, **more):
        return Now(self.sampler)


class Service:
    model = ""

    def __init__(self, **more):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def create_lora_training_client(self, model, **more):
        return Now(Training(model))

    def create_training_client_from_state_with_optimizer(self, path, **more):
        print(f"resumed from {path}", flush=True)
        return Now(Training(Service.model))

    def create_rest_client(self):
        raise tinker.TinkerError("this service knows no runs")


def start(model):
    """Puts this service in place of Tinker's. `model`: what a checkpoint is of."""
    Service.model = model
    tinker.ServiceClient = Service

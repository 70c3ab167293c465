"""The spec of a run, with every auto replaced by what it stands for and everything this engine lacks refused by name."""

import json
from pathlib import Path
from types import SimpleNamespace

from torch_engine.catalogue import DATA, MODEL_FILE, MODELS, PROCEDURAL, is_model_file
from torch_engine.errors import ConfigError, DeviceError
from torch_engine.events import text_to_bytes

# Defaults of lockstep/record/spec_fields.def, for specs that leave fields out. A stored spec has them all.
DEFAULTS = {
    "model": "lenet5", "model_options": {}, "data": "fashion-mnist", "data_seed": 1, "train_samples": None,
    "val_samples": None, "strategy": "auto", "backend": "auto", "device": "auto", "workers": 1, "threads": None,
    "device_memory": None, "batch_size": None, "global_batch": None, "accumulate": 1, "optimizer": "sgd",
    "learning_rate": 0.01, "momentum": 0.9, "nesterov": False, "weight_decay": 0.0, "beta1": 0.9, "beta2": 0.999,
    "epsilon": 1e-8, "schedule": "constant", "schedule_epochs": 30, "schedule_factor": 0.1, "warmup_epochs": 0.0,
    "learning_rate_scaling": "none", "scaling_batch": None, "clip_norm": None, "loss": "auto", "precision": "f32", "seed": 1,
    "epochs": None, "steps": None, "max_time": None, "target_loss": None, "target_val_loss": None, "target_accuracy": None,
    "target_psnr": None, "validate_every": 1, "image_size": None, "augment": "auto", "shuffle": "epoch", "noise_sigma": 25.0,
    "trainable": "all", "weights": None, "buffers": "broadcast", "overlap": "auto", "first_bucket_bytes": 1 << 20,
    "bucket_bytes": 25 << 20, "compression": "none", "timeout": 300.0, "data_dir": None, "measure": True, "skip_steps": 5,
    "checkpoint_epochs": None, "checkpoint_time": None, "resume": None, "export_weights": None, "trace": None,
}
STRATEGIES = ("single", "ddp", "dp", "zero3")
BACKENDS = ("gloo", "nccl")
DEFAULT_BATCH = 32
LIMITS = ("epochs", "steps", "max_time", "target_loss", "target_val_loss", "target_accuracy", "target_psnr")


def read_spec(directory):
    file = Path(directory) / "spec.json"
    try:
        given = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise ConfigError(f"{file} is not JSON: {error}.") from error
    if not isinstance(given, dict):
        raise ConfigError(f"{file}: a spec must be a JSON object of fields and values.")
    given = {name: text_to_bytes(value) if isinstance(value, str) else value for name, value in given.items()}
    return SimpleNamespace(**{**DEFAULTS, **given})


def resolve(spec, gpus):
    """Fills in what auto stands for, and what follows from the spec: facts, batch sizes, the input's shape."""
    spec.device = ("cuda" if gpus else "cpu") if spec.device == "auto" else spec.device
    spec.strategy = ("single" if spec.workers == 1 else "ddp") if spec.strategy == "auto" else spec.strategy
    if spec.backend == "auto":
        alone = spec.strategy in ("single", "dp")
        spec.backend = "local" if alone else "nccl" if spec.device == "cuda" else "gloo"
    refuse_unknown_words(spec)
    refuse_combinations(spec, gpus)
    refuse_what_is_not_offered(spec)
    add_batch_sizes(spec)
    spec.input_shape = input_shape(spec)
    spec.options = {**spec.model_facts.options, **{name: int(value) for name, value in spec.model_options.items()}}
    if all(getattr(spec, limit) is None for limit in LIMITS):
        spec.epochs = 1
    return spec


def refuse_unknown_words(spec):
    spec.data_name, _, spec.data_path = spec.data.partition(":")
    if spec.data_name in PROCEDURAL:
        raise ConfigError(f"data '{spec.data_name}' is refused: it is drawn by engine lockstep's own arithmetic, which engine "
                          f"torch does not repeat. The nearest that works: {', '.join(DATA)}.")
    if spec.data_name not in DATA:
        raise ConfigError(f"data '{spec.data}' is refused: there is no such data set. There are {', '.join(DATA)}.")
    if spec.model not in MODELS and not is_model_file(spec.model):
        raise ConfigError(f"model '{spec.model}' is refused: there is no such model. There are {', '.join(MODELS)}, or FILE.pt.")
    if spec.strategy not in STRATEGIES:
        raise ConfigError(f"strategy '{spec.strategy}' is refused: PyTorch has no such strategy. The nearest that works: ddp.")
    spec.model_facts = MODELS.get(spec.model, MODEL_FILE)
    spec.data_facts = DATA[spec.data_name]


def refuse_combinations(spec, gpus):
    if spec.model_facts.task not in ("any", spec.data_facts.task):
        raise ConfigError(f"data '{spec.data}' is refused: it is for {spec.data_facts.task}, and model {spec.model} is for "
                          f"{spec.model_facts.task}.")
    if spec.strategy == "single" and spec.workers != 1:
        raise ConfigError(f"strategy 'single' is refused: it is one worker, and {spec.workers} were asked for.")
    if spec.device == "cuda" and gpus == 0:
        raise DeviceError("device 'cuda' is missing: this PyTorch sees no GPU. Use device cpu, or a PyTorch with CUDA.")
    if spec.strategy == "dp" and (spec.device != "cuda" or gpus < max(2, spec.workers)):
        raise DeviceError(f"strategy 'dp' is refused: PyTorch's DataParallel needs {max(2, spec.workers)} GPUs, and device is "
                          f"{spec.device} with {gpus}. The nearest that works: ddp.")
    if spec.strategy == "zero3" and spec.device != "cuda":
        raise DeviceError("strategy 'zero3' is refused: PyTorch's FSDP needs a GPU, and device is cpu. The nearest that "
                          "works: ddp.")
    if spec.strategy in ("ddp", "zero3") and spec.backend not in BACKENDS:
        raise ConfigError(f"backend '{spec.backend}' is refused: engine torch moves its bytes by PyTorch's own gloo or nccl. "
                          f"The nearest that works: {'nccl' if spec.device == 'cuda' else 'gloo'}.")
    if spec.backend == "nccl" and spec.device != "cuda":
        raise ConfigError(f"backend 'nccl' is refused: it moves memory of GPUs only, and device is {spec.device}. The nearest "
                          "that works: gloo.")


def refuse_what_is_not_offered(spec):
    for name in ("resume", "checkpoint_epochs", "checkpoint_time"):
        if getattr(spec, name) is not None:
            raise ConfigError(f"{name} is refused: engine torch keeps no checkpoints. Use engine lockstep, or leave it unset.")
    if spec.trace is not None:
        raise ConfigError("trace is refused: engine torch writes no trace. Use engine lockstep, or leave it unset.")
    if spec.overlap == "off" and spec.strategy == "ddp":
        raise ConfigError("overlap 'off' is refused: PyTorch's DistributedDataParallel always overlaps. Use auto or on.")
    if spec.device_memory is not None and spec.device == "cpu":
        raise ConfigError("device_memory is refused: PyTorch has no memory cap on the CPU. Use engine lockstep or device cuda.")
    if spec.compression == "bf16" and spec.strategy == "ddp" and spec.backend == "gloo":
        raise ConfigError("compression 'bf16' is refused: PyTorch's gloo does not reduce bf16. The nearest that works: f16.")
    if spec.export_weights is not None and spec.strategy == "zero3":
        raise ConfigError("export_weights is refused with strategy zero3: the weights are divided among the workers. Use ddp.")


def add_batch_sizes(spec):
    if spec.global_batch is not None:
        spec.batch_global = spec.global_batch
        spec.batch_per_worker = -(-spec.global_batch // spec.workers)
    else:
        spec.batch_per_worker = spec.batch_size or DEFAULT_BATCH
        spec.batch_global = spec.batch_per_worker * spec.workers


def input_shape(spec):
    model, own = spec.model_facts, spec.data_facts.shape
    if model.fixed:
        return model.fixed
    channels = model.channels or own[0]
    if spec.image_size:
        return (channels, spec.image_size, spec.image_size)
    return (channels, max(own[1], model.smallest_default), max(own[2], model.smallest_default))

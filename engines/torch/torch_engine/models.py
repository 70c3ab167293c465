"""Builds the model of a spec, with the parameter names and shapes of our own engine: torchvision's networks where it is
installed, written here where it is not, and the networks that torchvision lacks."""

import torch
from torch import nn

from torch_engine import classic_models, small_models
from torch_engine.catalogue import is_model_file
from torch_engine.errors import ConfigError, DataError
from torch_engine.initialise import initialise
from torch_engine.vit import Vit

try:
    import torchvision
except Exception:  # absent, or built for another torch: our own will do
    torchvision = None

TORCHVISION = ("resnet18", "vgg16", "squeezenet1_0", "densenet121", "alexnet")


def torchvision_version():
    return getattr(torchvision, "__version__", None)


def build_classic(name, classes):
    """One of torchvision's five, without its own (slow, and soon overwritten) initialisation."""
    if torchvision is None:
        return getattr(classic_models, name)(classes)
    extra = {"init_weights": False} if name == "vgg16" else {}
    return getattr(torchvision.models, name)(num_classes=classes, **extra)


def build_small(spec, classes):
    shape, options = spec.input_shape, spec.options
    makers = {
        "lenet5": lambda: small_models.LeNet5(shape, classes),
        "resnet18-cifar": lambda: classic_models.ResNet18(classes, shape[0], options["width"], small_images=True),
        "vit": lambda: Vit(shape, classes, options["width"], options["depth"], options["heads"]),
        "pilotnet": lambda: small_models.PilotNet(shape),
        "deepwide": lambda: small_models.DeepWide(shape[0], classes, options["width"], options["depth"]),
        "restorer": lambda: small_models.Restorer(shape[0], options["width"], options["depth"]),
    }
    return makers[spec.model]()


def check_options(spec):
    unknown = set(spec.options) - set(spec.model_facts.options)
    if unknown:
        raise ConfigError(f"model_options '{', '.join(sorted(unknown))}' is refused: model {spec.model} has no such option.")
    if spec.model == "vit" and spec.options["width"] % spec.options["heads"] != 0:
        raise ConfigError(f"model 'vit': width {spec.options['width']} does not divide by heads {spec.options['heads']}.")


def load_script(file):
    try:
        return torch.jit.load(file, map_location="cpu")
    except (RuntimeError, ValueError, OSError) as error:
        raise DataError(f"{file} is not a TorchScript module that this PyTorch can load: {str(error).splitlines()[0]}") from error


def build(spec, classes):
    """The model on the CPU with its initial weights, in f32 or f64."""
    if is_model_file(spec.model):
        model = load_script(spec.model)
    else:
        check_options(spec)
        with no_own_initialisation():
            model = build_classic(spec.model, classes) if spec.model in TORCHVISION else build_small(spec, classes)
        initialise(model, spec.model, spec.seed)
    return model.double() if spec.precision == "f64" else model.float()


class no_own_initialisation:
    """PyTorch fills every layer it makes; what is overwritten at once need not be drawn."""

    def __enter__(self):
        self.kept = [(kind, kind.reset_parameters) for kind in (nn.Linear, nn.modules.conv._ConvNd)]
        self.functions = [(name, getattr(nn.init, name)) for name in dir(nn.init) if name.endswith("_") and name[0] != "_"
                          and name not in ("ones_", "zeros_", "constant_")]
        for kind, _ in self.kept:
            kind.reset_parameters = lambda module: None
        for name, _ in self.functions:
            setattr(nn.init, name, lambda tensor, *_, **__: tensor)

    def __exit__(self, *_):
        for kind, function in self.kept:
            kind.reset_parameters = function
        for name, function in self.functions:
            setattr(nn.init, name, function)

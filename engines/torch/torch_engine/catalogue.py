"""What lockstep/record's catalogue knows of models and data sets, as far as this engine needs it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ModelFacts:
    task: str = "classification"
    channels: int = 0  # 0: adapts to the data
    smallest_default: int = 1
    fixed: tuple = ()  # (channels, height, width) where nothing else is taken
    options: dict = field(default_factory=dict)
    head: str = ""


@dataclass(frozen=True)
class DataFacts:
    task: str
    shape: tuple  # channels, height, width
    classes: int
    mean: tuple
    deviation: tuple
    augmentation: str = "none"
    directory: str = ""
    files: tuple = ()


MODELS = {
    "lenet5": ModelFacts(smallest_default=12, head="fc3"),
    "vit": ModelFacts(smallest_default=8, options={"width": 16, "depth": 2, "heads": 4}, head="head"),
    "resnet18": ModelFacts(channels=3, head="fc"),
    "resnet18-cifar": ModelFacts(options={"width": 64}, head="fc"),
    "squeezenet1_0": ModelFacts(channels=3, smallest_default=21, head="classifier.1"),
    "densenet121": ModelFacts(channels=3, smallest_default=32, head="classifier"),
    "alexnet": ModelFacts(channels=3, smallest_default=64, head="classifier.6"),
    "vgg16": ModelFacts(channels=3, smallest_default=32, head="classifier.6"),
    "pilotnet": ModelFacts(task="steering", channels=3, fixed=(3, 66, 200), head="regressor.fc4"),
    "deepwide": ModelFacts(options={"width": 64, "depth": 8}, head="head"),
    "restorer": ModelFacts(task="restoration", options={"width": 32, "depth": 8}),
}
MODEL_FILE = ModelFacts(task="any")


def is_model_file(name):
    return name.endswith((".pt", ".pth"))


def grey(value):
    return (value,) * 3


HALF, QUARTER, ZERO, ONE = grey(0.5), grey(0.25), grey(0.0), grey(1.0)

IDX_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
CIFAR_FILES = tuple(f"data_batch_{i}.bin" for i in range(1, 6)) + ("test_batch.bin",)

DATA = {
    "mnist": DataFacts("classification", (1, 28, 28), 10, grey(0.1307), grey(0.3081), "none", "mnist",
                       IDX_FILES),
    "fashion-mnist": DataFacts("classification", (1, 28, 28), 10, grey(0.2860), grey(0.3530), "none", "fashion-mnist",
                               IDX_FILES),
    "cifar10": DataFacts("classification", (3, 32, 32), 10, (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616), "crop-flip",
                         "cifar-10-batches-bin", CIFAR_FILES),
    "driving": DataFacts("steering", (3, 66, 200), 0, HALF, QUARTER, "none", "driving", ("driving_log.csv",)),
    "images": DataFacts("restoration", (3, 64, 64), 0, ZERO, ONE, "flip"),
    "folder": DataFacts("classification", (3, 64, 64), 0, HALF, QUARTER),
}
# Drawn by arithmetic of our own engine, which is not repeated here.
PROCEDURAL = ("digits", "road", "texture")

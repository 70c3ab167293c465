"""Which parameters are trained: all, head, last:K layers or share:P% of the parameters, counted from the output."""

from torch import nn

from torch_engine.errors import ConfigError


def layers_of(model):
    """(path, parameters) of every module that has parameters of its own, in the order of the model."""
    layers, inside = [], None
    for path, module in model.named_modules():
        if inside is not None and path.startswith(inside):
            continue
        inside = path + "." if getattr(module, "is_one_layer", False) else None
        parameters = list(module.parameters(recurse=inside is not None))
        if parameters:
            layers.append((path, module, parameters))
    return layers


def first_trained(spec, layers):
    kind, _, amount = spec.trainable.partition(":")
    if kind == "all":
        return 0
    if kind == "head":
        head = spec.model_facts.head
        if not head:
            raise ConfigError(f"trainable 'head' is refused: model {spec.model} has no head to train alone. The nearest that works: "
                              "trainable last:1.")
        return min(i for i, (path, _, _) in enumerate(layers) if path == head or path.startswith(head + "."))
    if kind == "last":
        if int(amount) > len(layers):
            raise ConfigError(f"trainable '{spec.trainable}' is refused: model {spec.model} has {len(layers)} layers with parameters. "
                              f"The nearest that works: trainable last:{len(layers)}.")
        return len(layers) - int(amount)
    sizes = [sum(p.numel() for p in parameters) for _, _, parameters in layers]
    wanted, first, held = float(amount.rstrip("%")) / 100 * sum(sizes), len(layers), 0
    while first > 0 and held < wanted:
        first -= 1
        held += sizes[first]
    return first


def freeze(model, spec):
    """Freezes the rest; returns the frozen batch norms, which must use their running statistics."""
    layers = layers_of(model)
    frozen = layers[:first_trained(spec, layers)]
    for _, _, parameters in frozen:
        for parameter in parameters:
            parameter.requires_grad_(False)
    return [module for _, module, _ in frozen if isinstance(module, nn.modules.batchnorm._BatchNorm)]

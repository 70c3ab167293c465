// The entries of the models, each defined in the file of its name. A new model is its file, a line here and a
// line in registry.cc.
#pragma once

#include "lockstep/models/registry.h"

namespace lockstep::models {

extern const ModelEntry kResNet18;
extern const ModelEntry kVgg16;
extern const ModelEntry kSqueezeNet10;
extern const ModelEntry kDenseNet121;
extern const ModelEntry kAlexNet;
extern const ModelEntry kResNet18Cifar;
extern const ModelEntry kVit;
extern const ModelEntry kPilotNet;
extern const ModelEntry kDeepWide;
extern const ModelEntry kRestorer;
extern const ModelEntry kLeNet5;

}  // namespace lockstep::models

#include "lockstep/parallel/zero/zero1.h"

#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/operation.h"
#include "lockstep/parallel/pass.h"
#include "lockstep/parallel/tensor_buffer.h"
#include "lockstep/parallel/zero/flat.h"
#include "lockstep/parallel/zero/shard.h"

namespace lockstep::parallel {
namespace {

// This rank's shard of a bucket.
comm::Buffer own_part(const comm::Buffer& bucket, const comm::Group& group) {
  const Shard shard = shard_of(bucket.count(), group.world, group.rank);
  const std::size_t each = comm::bytes_of(bucket.type);
  return bucket.part(shard.begin * each, shard.count * each);
}

}  // namespace

Zero1::Zero1(const Surroundings& surroundings)
    : Ddp(surroundings, BucketOrder::fixed),
      values_(tensors_of(parameters()), layout().buckets.size(), communicator(), surroundings.memory,
              measure::Use::parameters) {
  values_.arrange(layout());
  move_parameters_in();
  make_shards();
}

Zero1::~Zero1() {
  for (const models::NamedTensor& named : parameters()) leave_empty(named.tensor);
}

// The tensors themselves stay; only where their values lie changes.
void Zero1::move_parameters_in() {
  const at::NoGradGuard no_grad;
  for (std::size_t parameter = 0; parameter < parameters().size(); ++parameter) {
    at::Tensor tensor = parameters()[parameter].tensor;
    at::Tensor place = values_.view(parameter);
    place.copy_(tensor.detach());
    tensor.set_data(place);
  }
}

void Zero1::make_shards() {
  const comm::Group& group = communicator().group();
  const at::Tensor& like = parameters().front().tensor;
  for (std::size_t bucket = 0; bucket < buckets().count(); ++bucket) {
    std::vector<models::NamedTensor> members;
    for (const std::size_t parameter : layout().buckets[bucket]) members.push_back(parameters()[parameter]);
    const Shard shard = shard_of(buckets().buffer(bucket).count(), group.world, group.rank);
    append_updatables(members, shard, row_at(own_part(values_.buffer(bucket), group), like),
                      row_at(own_part(buckets().buffer(bucket), group), like), shards_);
  }
}

// In place: what a bucket holds besides this rank's shard is worthless afterwards.
comm::Operation Zero1::reduction_of(const comm::Buffer& bucket) const {
  const comm::Group& group = communicator().group();
  return comm::reduce_scatter(bucket, own_part(bucket, group), comm::ReduceOp::sum, comm::Purpose::gradient,
                              shard_counts(bucket.count(), group.world));
}

comm::Operation Zero1::gathering_of(const comm::Buffer& bucket) const {
  const comm::Group& group = communicator().group();
  return comm::all_gather(own_part(bucket, group), bucket, comm::Purpose::parameter,
                          shard_counts(bucket.count(), group.world));
}

double Zero1::sum_over_updatables(double mine) {
  return sum_over_ranks(communicator(), surroundings().timer, mine);
}

void Zero1::after_update() {
  {
    const measure::SpanScope span(surroundings().timer, measure::Span::exposed_comm,
                                  measure::Purpose::parameter);
    for (std::size_t bucket = 0; bucket < values_.count(); ++bucket)
      communicator().run(gathering_of(values_.buffer(bucket)));
  }
  Ddp::after_update();
}

void Zero1::restore(const nlohmann::json& state) {
  if (bucket_layout_from_json(state.at("layout"), parameters().size()) != layout())
    throw base::DataError(
        "the checkpoint's buckets are not those of this run: its optimiser state is divided otherwise. "
        "Resume "
        "with the same --bucket-bytes and --first-bucket-bytes, and with the build that wrote it where that "
        "one put tensors of odd sizes elsewhere in a bucket.");
  Ddp::restore(state);
}

}  // namespace lockstep::parallel

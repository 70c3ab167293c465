// The stack machine of the pickle format, protocols 2 to 4. Opcodes are the format's own bytes.
#include "lockstep/models/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lockstep/base/error.h"

namespace lockstep::models {

using Kind = PickleNode::Kind;

class Pickle::Reader {
 public:
  Reader(Pickle& pickle, std::span<const std::byte> bytes, const std::string& source)
      : nodes_(pickle.nodes_), bytes_(bytes), source_(source) {}

  PickleNode* read() {
    while (true) {
      const auto opcode = number<std::uint8_t>();
      if (opcode == '.') return pop();
      if (!constant(opcode) && !container(opcode) && !memo(opcode) && !action(opcode)) {
        refuse(fmt::format("it uses opcode 0x{:02x}, which no table of tensors needs", opcode));
      }
    }
  }

 private:
  static constexpr std::size_t kMostNodes = std::size_t{1} << 22;  // a tensor takes about 25

  [[noreturn]] void refuse_so_many() const {
    refuse(fmt::format("it holds more than {} values beside tensors", kMostNodes));
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw base::DataError(fmt::format(
        "'{}' holds a pickle that cannot be read: {}. Save the weights as safetensors", source_, why));
  }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size() - at_) refuse("it ends too early");
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof(Number)).data(), sizeof(Number));
    return value;
  }
  std::string text(std::uint64_t count) {
    const auto part = take(count);
    return std::string(reinterpret_cast<const char*>(part.data()), part.size());
  }
  std::string line() {
    std::string letters;
    for (auto letter = number<char>(); letter != '\n'; letter = number<char>()) letters.push_back(letter);
    return letters;
  }

  PickleNode* push(PickleNode node) {
    if (nodes_.size() == kMostNodes) refuse_so_many();
    nodes_.push_back(std::move(node));
    stack_.push_back(&nodes_.back());
    return stack_.back();
  }
  bool push_integer(std::int64_t value) { return push({.kind = Kind::integer, .integer = value}) != nullptr; }
  bool push_text(std::string value) {
    return push({.kind = Kind::text, .text = std::move(value)}) != nullptr;
  }
  bool push_boolean(bool value) { return push({.kind = Kind::boolean, .integer = value ? 1 : 0}) != nullptr; }
  bool push_kind(Kind kind) { return push({.kind = kind}) != nullptr; }

  PickleNode* pop() {
    if (stack_.empty()) refuse("its stack runs empty");
    PickleNode* top = stack_.back();
    stack_.pop_back();
    return top;
  }
  PickleNode* top() {
    if (stack_.empty()) refuse("its stack runs empty");
    return stack_.back();
  }
  std::vector<PickleNode*> pop_to_mark() {
    std::vector<PickleNode*> items;
    for (PickleNode* node = pop(); node->kind != Kind::mark; node = pop()) items.push_back(node);
    std::reverse(items.begin(), items.end());
    return items;
  }
  std::vector<PickleNode*> pop_count(std::size_t count) {
    std::vector<PickleNode*> items(count);
    for (std::size_t i = count; i > 0; --i) items[i - 1] = pop();
    return items;
  }
  bool push_sequence(std::vector<PickleNode*> items) {
    return push({.kind = Kind::sequence, .items = std::move(items)}) != nullptr;
  }

  // A whole number in `count` little-endian bytes, two's complement.
  std::int64_t long_integer(std::size_t count) {
    if (count > sizeof(std::int64_t)) refuse("it holds a whole number of more than eight bytes");
    const auto part = take(count);
    const bool negative = count > 0 && (static_cast<unsigned>(part[count - 1]) & 0x80U) != 0;
    std::int64_t value = negative ? -1 : 0;
    std::memcpy(&value, part.data(), count);
    return value;
  }
  double real() {  // big-endian
    std::uint64_t bits = 0;
    for (const std::byte byte : take(sizeof(bits))) bits = bits << 8U | static_cast<std::uint64_t>(byte);
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

  bool constant(std::uint8_t opcode) {
    switch (opcode) {
      case 'N':
        return push_kind(Kind::none);
      case 0x88:
        return push_boolean(true);
      case 0x89:
        return push_boolean(false);
      case 'K':
        return push_integer(number<std::uint8_t>());
      case 'M':
        return push_integer(number<std::uint16_t>());
      case 'J':
        return push_integer(number<std::int32_t>());
      case 0x8a:
        return push_integer(long_integer(number<std::uint8_t>()));
      case 'G':
        return push({.kind = Kind::real, .real = real()}) != nullptr;
      case 'X':
        return push_text(text(number<std::uint32_t>()));
      case 'U':
      case 0x8c:
        return push_text(text(number<std::uint8_t>()));
      default:
        return false;
    }
  }

  bool container(std::uint8_t opcode) {
    switch (opcode) {
      case '(':
        return push_kind(Kind::mark);
      case ')':
      case ']':
        return push_kind(Kind::sequence);
      case '}':
        return push_kind(Kind::dict);
      case 't':
        return push_sequence(pop_to_mark());
      case 0x85:
        return push_sequence(pop_count(1));
      case 0x86:
        return push_sequence(pop_count(2));
      case 0x87:
        return push_sequence(pop_count(3));
      case 'a':
        return append({pop()});
      case 'e':
        return append(pop_to_mark());
      case 's':
        return set_items(pop_count(2));
      case 'u':
        return set_items(pop_to_mark());
      default:
        return false;
    }
  }

  bool memo(std::uint8_t opcode) {
    switch (opcode) {
      case 'q':
        return remember(number<std::uint8_t>());
      case 'r':
        return remember(number<std::uint32_t>());
      case 0x94:
        return remember(static_cast<std::uint32_t>(memo_.size()));
      case 'h':
        return recall(number<std::uint8_t>());
      case 'j':
        return recall(number<std::uint32_t>());
      default:
        return false;
    }
  }

  bool action(std::uint8_t opcode) {
    switch (opcode) {
      case 0x80:
        return take(1), true;  // the protocol's number
      case 0x95:
        return take(8), true;  // a frame's length
      case 'c':
        return read_global();
      case 0x93:
        return stack_global();
      case 'R':
      case 0x81:
        return call(pop_count(2));
      case 'b':
        return pop(), true;  // attributes of an object: the state_dict's version notes
      case 'Q':
        return push({.kind = Kind::persistent, .items = {pop()}}) != nullptr;
      case '0':
        return pop(), true;
      default:
        return false;
    }
  }

  bool push_global(const std::string& module, const std::string& name) {
    return push({.kind = Kind::global, .text = module + " " + name}) != nullptr;
  }
  bool read_global() {
    const std::string module = line();
    return push_global(module, line());
  }
  bool stack_global() {
    const auto parts = pop_count(2);
    // Of names alone: joined out of what was joined before, they would double with every byte.
    if (parts[0]->kind != Kind::text || parts[1]->kind != Kind::text) refuse("it names something by no name");
    return push_global(parts[0]->text, parts[1]->text);
  }
  bool call(std::vector<PickleNode*> parts) {
    return push({.kind = Kind::call, .items = std::move(parts)}) != nullptr;
  }
  bool remember(std::uint32_t number) {
    if (memo_.size() >= kMostNodes) refuse_so_many();
    memo_[number] = top();
    return true;
  }
  bool recall(std::uint32_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) refuse("it refers to something it never stored");
    stack_.push_back(found->second);
    return true;
  }
  bool append(std::vector<PickleNode*> items) {
    auto& list = top()->items;
    list.insert(list.end(), items.begin(), items.end());
    return true;
  }
  bool set_items(const std::vector<PickleNode*>& items) {
    if (items.size() % 2 != 0) refuse("a table has a name without a value");
    for (std::size_t i = 0; i < items.size(); i += 2) top()->entries.emplace_back(items[i], items[i + 1]);
    return true;
  }

  std::deque<PickleNode>& nodes_;
  std::span<const std::byte> bytes_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::vector<PickleNode*> stack_;
  std::map<std::uint32_t, PickleNode*> memo_;
};

Pickle::Pickle(std::span<const std::byte> bytes, const std::string& source)
    : root_(Reader(*this, bytes, source).read()) {}

}  // namespace lockstep::models

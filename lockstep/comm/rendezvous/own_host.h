// The host this process runs on: what tells it from others, and the addresses at which others reach it.
#pragma once

#include <string>

namespace lockstep::comm {

// "box/1f0c3a77e2d4": the host's name, and what tells it from others of that name. Two ranks are on one host
// when they have one kernel, started once, and one network namespace, for then they share memory and a
// loopback interface. What Slurm takes for two nodes is two hosts also where one machine plays both. No
// spaces.
std::string this_host();
// Its first part, for people.
std::string host_name_of(const std::string& host);

// Whether only this host's processes can meet there: 127.0.0.0/8, ::1, localhost. No name is looked up.
bool is_loopback(const std::string& address);

// This host's address for other hosts: that of `interface`, or, where none is named, of the interface that
// the default route uses, or the first one there is; empty where there is loopback alone. Throws ConfigError
// when there is no such interface.
std::string routable_address(const std::string& interface);

// This host's address on the way to another: what the kernel would send from. Empty where no way leads there;
// nothing is sent to find out.
std::string own_address_towards(const std::string& host);

// "lo, eth0": the interfaces that are up and have an address.
std::string interface_names();

// What to listen at, or to call, for a host that was named. A name that is this host's own and stands for
// loopback (Debian gives it 127.0.1.1 in /etc/hosts) reaches nobody elsewhere: it becomes
// routable_address(). Anything else stays as it is.
std::string reachable_address(const std::string& name, const std::string& interface);

}  // namespace lockstep::comm

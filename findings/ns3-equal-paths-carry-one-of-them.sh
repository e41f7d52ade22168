#!/usr/bin/env bash
# Guess: global routing of ns-3 spreads flows over equal paths, each flow along one of them, as switches do; RandomEcmp-
#        Routing chooses that path at random.
# Seen:  without it all flows take the first path, and the others carry nothing, though they are in the routing table.
#        With it each packet goes by chance: one flow is on both paths at once. There is no attribute for flows.
# With:  ns-3 3.37 (Debian bookworm).
set -euo pipefail
debs=(
  libns3-dev=3.37-2 libns3.37=3.37-2 libgsl27 libgslcblas0 libsqlite3-0
)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
{
  apt-get -qq -o APT::Sandbox::User=root download "${debs[@]}" &&
    for deb in *.deb; do dpkg -x "$deb" .; done
} || { echo "needs packages of Debian bookworm, and apt-get update before"; exit 77; }
export LD_LIBRARY_PATH="$dir/usr/lib/x86_64-linux-gnu"

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

command -v g++ >/dev/null || { echo "needs g++"; exit 77; }
cat >fabric.cc <<'CC'
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <iostream>
#include <vector>

using namespace ns3;

// host - leaf, two spines, leaf - host; arguments: flows, and 1 for RandomEcmpRouting.
int main(int, char **argv)
{
    Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting", BooleanValue(std::stoi(argv[2]) == 1));
    NodeContainer nodes;
    nodes.Create(6);
    InternetStackHelper().Install(nodes);
    PointToPointHelper cable;
    cable.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    std::vector<uint64_t> packets(6);
    const int ends[6][2] = {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5}};
    for (int i = 0; i < 6; i++) {
        NetDeviceContainer d = cable.Install(nodes.Get(ends[i][0]), nodes.Get(ends[i][1]));
        last = addresses.Assign(d);
        addresses.NewNetwork();
        auto count = +[](uint64_t *n, Ptr<const Packet>) { ++*n; };
        d.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(count, &packets[i]));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (int flow = 0; flow < std::stoi(argv[1]); flow++) {
        OnOffHelper send("ns3::UdpSocketFactory", InetSocketAddress(last.GetAddress(1), 9));
        send.SetConstantRate(DataRate("80Mbps"), 1000);
        send.Install(nodes.Get(0));
    }
    Simulator::Stop(Seconds(0.1));
    Simulator::Run();
    std::cout << (packets[1] > 0) << " " << (packets[2] > 0);
    Simulator::Destroy();
}
CC
lib=$dir/usr/lib/$(uname -m)-linux-gnu
g++ -std=c++17 -I usr/include fabric.cc -o fabric -L "$lib" -Wl,--unresolved-symbols=ignore-in-shared-libs \
  -lns3-core -lns3-network -lns3-internet -lns3-point-to-point -lns3-applications
same "16 flows, first and second path used" "$(./fabric 16 0)" "1 0"
same "16 flows, RandomEcmpRouting" "$(./fabric 16 1)" "1 1"
same "one flow, RandomEcmpRouting" "$(./fabric 1 1)" "1 1"

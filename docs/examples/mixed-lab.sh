# A lab of several vendors on one Linux machine, as root: cables, hosts, agents, and switches with certificates of their
# vendor's and a user's name. It ends with a shell in the lab; all goes with that shell. `mixed.yaml` is the inventory.
# $ unshare --net --mount --pid --fork --kill-child --mount-proc sh mixed-lab.sh
# $ lightloom controller run --fabric "$FABRIC" --devices mixed.yaml --tls-dir keys     # in that shell
set -e
export FABRIC=hybrid:racks=3,hosts=1,spines=2,nic=200Mbps,eps=50Mbps,ocs=200Mbps,dark=10ms USER=ada PASSWORD=lace
[ -d keys ] || lightloom controller keys keys --fabric "$FABRIC" --agents
mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && ip link set lo up
rate() { ip $1 link set $2 up; tc $1 qdisc add dev $2 root handle 1: htb default 1
	tc $1 class add dev $2 parent 1: classid 1:1 htb rate ${3}mbit quantum 3000; }
cable() { ip link add $1 type veth peer name $2; rate "" $1 $3; rate "" $2 $3; }
for r in 0 1 2 3; do # the fabric has racks 0 to 2; `mixed-rack.sh` adds the last
	cable tor$r-1 spine0-$r 50; cable tor$r-2 spine1-$r 50; cable tor$r-3 ocs-$r 200
	ip netns add h$r-0 && ip -n h$r-0 link set lo up && ip link add tor$r-0 type veth peer name eth0 netns h$r-0
	rate "" tor$r-0 200 && ip -n h$r-0 link set eth0 address 02:00:00:00:00:01 && rate "-n h$r-0" eth0 200
	ip -n h$r-0 addr add 10.0.$r.1/32 dev eth0 && ip -n h$r-0 route add 10.0.0.0/8 via 10.255.255.254 dev eth0 onlink
	ip -n h$r-0 neigh add 10.255.255.254 lladdr 02:00:00:00:00:01 dev eth0 nud permanent
	[ $r = 3 ] || ip netns exec h$r-0 lightloom agent run --host h$r-0 --listen unix:h$r-0.sock --tls-dir keys &
done
sh mixed-switch.sh spine0 --role eps --ports spine0-0,spine0-1,spine0-2,spine0-3 --profile srl-native \
	--listen 127.0.0.1:9410
sh mixed-switch.sh spine1 --role eps --ports spine1-0,spine1-1,spine1-2,spine1-3 --profile openconfig \
	--listen 127.0.0.1:9411
sh mixed-switch.sh ocs --role ocs --ports ocs-0,ocs-1,ocs-2,ocs-3 --profile polatis --restconf --listen 127.0.0.1:9420
for r in 0 1 2; do sh mixed-switch.sh tor$r --role tor --rack $r --hosts 1 --profile sonic --listen 127.0.0.1:940$r \
	--fibre tor$r-3 --ports tor$r-0,tor$r-1,tor$r-2,tor$r-3; done
${LAB_SHELL:-sh}

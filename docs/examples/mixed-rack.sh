# The fourth rack of the lab that `mixed-lab.sh` builds, in its shell, while jobs run: keys for the agent of its host,
# the agent, which learns from the controller which hosts there are, the switch, and the word to the controller.
# $ sh mixed-rack.sh FLAGS     # those with which lightloom reaches the controller
set -e
lightloom keys issue keys agent h3-0
ip netns exec h3-0 lightloom agent run --host h3-0 --listen unix:h3-0.sock --tls-dir keys >h3-0.log 2>&1 &
sh mixed-switch.sh tor3 --role tor --rack 3 --hosts 1 --profile sonic --listen 127.0.0.1:9403 --fibre tor3-3 \
	--ports tor3-0,tor3-1,tor3-2,tor3-3
lightloom apply -f mixed-rack.yaml "$@"

# One switch of the lab, in the place of what ran under its name before: sh mixed-switch.sh NAME FLAGS
name=$1; shift
[ ! -f $name.pid ] || { kill $(cat $name.pid); while kill -0 $(cat $name.pid) 2>/dev/null; do sleep 0.05; done; }
lightloom switch run --name $name --racks 4 --tls-dir $name --own-keys --user env:USER --password env:PASSWORD \
	"$@" >$name.log 2>&1 &
echo $! >$name.pid
until grep "listens at" $name.log; do kill -0 $! || { cat $name.log; exit 1; }; sleep 0.05; done

# Starts Slurm's controller in the first host of a fabric that is up: $1 is the root of Slurm's files, $2 a directory with
# its configuration, $3 this program. All mounts, files and processes are of the fabric's namespaces, and end with them.
set -eu
root=$1 conf=$2 self=$3
run=$root/run/lightloom-slurm
if [ -e "$run/slurm.conf" ]; then
  echo "Slurm runs already: lightloom slurm down ends it" >&2
  exit 1
fi
if [ "$root" != / ]; then
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --rbind /sys "$root/sys"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  mount --bind /tmp "$root/tmp"
  touch "$root/etc/hosts" && mount --bind /etc/hosts "$root/etc/hosts"
fi
mkdir -p "$run/ctld" "$root/run/munge"
chmod 755 "$root/run/munge"
cp "$conf"/* "$run/"
touch "$run/lightloom" && mount --bind "$self" "$run/lightloom"
head -c 128 /dev/urandom >"$run/munge.key"
chmod 600 "$run/munge.key"
echo "root=$root" >/run/lightloom-slurm.env
chroot "$root" munged --force --key-file /run/lightloom-slurm/munge.key --socket /run/munge/munge.socket.2 \
  --log-file /run/lightloom-slurm/munge.log --pid-file /run/lightloom-slurm/munge.pid \
  --seed-file /run/lightloom-slurm/munge.seed >/dev/null 2>&1

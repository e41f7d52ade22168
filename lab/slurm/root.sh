#!/bin/sh
# Makes a directory tree with Slurm of a Debian suite, for lightloom slurm up and for tests: nothing of it runs outside
# of namespaces, and rm -rf removes it. It needs root and mmdebstrap, and takes one to two minutes.
#
#   root.sh SUITE DIR       sid has Slurm 26.05, bookworm 22.05; the version that it got is in DIR/etc/lightloom-slurm
set -eu
[ $# -eq 2 ] || { echo "usage: root.sh SUITE DIR, such as: root.sh sid /var/lib/lightloom-slurm" >&2; exit 2; }
suite=$1 dir=$2
[ "$(id -u)" -eq 0 ] || { echo "make a root for Slurm: it takes root; type sudo before the command" >&2; exit 77; }
command -v mmdebstrap >/dev/null ||
  { echo "make a root for Slurm: there is no mmdebstrap; type apt-get install mmdebstrap" >&2; exit 77; }
if [ -e "$dir" ] && [ -n "$(ls -A "$dir")" ]; then
  echo "make a root for Slurm: $dir is there already; name a directory that is empty or not there" >&2
  exit 2
fi

# In namespaces of their own, so that mounts and processes of package scripts are gone with this command. A mirror that
# stands still serves lists whose time is over; their signatures are checked all the same.
half="$dir.part"
trap 'rm -rf --one-file-system "$half"' EXIT
rm -rf --one-file-system "$half"
mkdir -p "$(dirname "$dir")"
unshare --mount --pid --fork --kill-child --propagation private mmdebstrap --quiet --variant=apt --mode=root \
  --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Check-Valid-Until "false"' \
  --include=slurmctld,slurmd,slurm-client,munge,iproute2,iperf3 "$suite" "$half"

# Jobs are this user's.
chroot "$half" useradd --create-home --shell /bin/bash lab
mkdir -p "$half/etc/slurm"
version=$(dpkg-query --admindir="$half/var/lib/dpkg" -W -f '${Version}' slurmctld)
echo "$version $suite" >"$half/etc/lightloom-slurm"
if [ -d "$dir" ]; then rmdir "$dir"; fi
mv "$half" "$dir"
echo "Slurm $version of Debian $suite is in $dir"

#!/bin/sh
# Installs lightloom for this user, without root: the archive for this machine from BASE, a folder or the address of one
# that packaging/build has filled, once its checksum is right.
#
#   sh get.sh BASE [PREFIX]        PREFIX is ~/.local where it is not named
set -eu
base=${1:-} prefix=${2:-$HOME/.local}
[ -n "$base" ] || { echo "write: sh get.sh BASE [PREFIX], with BASE a folder or https://..." >&2; exit 2; }
case $(uname -s)-$(uname -m) in
  Linux-x86_64) arch=amd64 ;;
  Linux-aarch64) arch=arm64 ;;
  *) echo "there is no archive for $(uname -s) on $(uname -m): build it with go build ./cmd/lightloom" >&2; exit 1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
  case $base in
    https://*) if command -v curl >/dev/null; then curl -fsSL "$base/$1" -o "$work/$1"; else wget -q "$base/$1" -O "$work/$1"; fi ;;
    *://*) echo "fetch $base: only https is taken" >&2; exit 1 ;;
    *) cp "$base/$1" "$work/$1" ;;
  esac
}
fetch SHA256SUMS
file=$(sed -n "s/^[0-9a-f]\{64\}  \(lightloom-[^/]*-linux-$arch\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
[ -n "$file" ] || { echo "SHA256SUMS of $base names no archive for $arch" >&2; exit 1; }
fetch "$file"
(cd "$work" && grep "  $file\$" SHA256SUMS | sha256sum -c --quiet) || { echo "$file is not what SHA256SUMS says" >&2; exit 1; }
mkdir -p "$prefix"
tar -xzf "$work/$file" -C "$work"
top=$work/${file%-linux-*}
mkdir -p "$prefix/bin" "$prefix/share"
# The running program can be replaced.
cp "$top/bin/lightloom" "$prefix/bin/lightloom.new" && mv "$prefix/bin/lightloom.new" "$prefix/bin/lightloom"
cp -r "$top/share/man" "$top/share/bash-completion" "$top/share/zsh" "$top/share/fish" "$prefix/share/"
"$prefix/bin/lightloom" --version
case :$PATH: in *":$prefix/bin:"*) ;; *) echo "add $prefix/bin to PATH" ;; esac

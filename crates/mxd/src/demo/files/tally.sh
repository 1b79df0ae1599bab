#!/bin/sh
# tally: sums up a list of expenses, one per line: date category amount.
set -eu

usage() {
  echo "usage: tally.sh total [file]" >&2
  exit 2
}

file=${2:-expenses.txt}
[ -r "$file" ] || { echo "tally: cannot read $file" >&2; exit 1; }

lines() {
  cat "$file"
}

case "${1:-total}" in
  total)
    lines | awk '{ sum += $3 } END { printf "%.2f\n", sum }'
    ;;
  *) usage ;;
esac

#!/bin/sh
# Runs every test of tally and says which of them fail.
cd "$(dirname "$0")/.." || exit 1
failed=0
for test in tests/*.test.sh; do
  if sh "$test"; then echo "ok      $test"; else echo "FAILED  $test"; failed=1; fi
done
exit $failed

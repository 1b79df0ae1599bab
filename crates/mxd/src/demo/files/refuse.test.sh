list=$(mktemp)
echo "2026-01-03 food" > "$list"
sh tally.sh total "$list" 2> "$list.err" && exit 1
grep -q "line 1 is no expense" "$list.err"

list=$(mktemp)
printf '2026-01-03 food 12,50\n2026-01-04 food 1,25\n' > "$list"
[ "$(sh tally.sh total "$list")" = "13.75" ]

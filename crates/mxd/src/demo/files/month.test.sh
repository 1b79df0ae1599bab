wanted="2026-01 42.50
2026-02 18.50"
[ "$(sh tally.sh month tests/expenses.txt)" = "$wanted" ]

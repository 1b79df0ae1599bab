wanted="food 31.00
travel 30.00"
[ "$(sh tally.sh category tests/expenses.txt)" = "$wanted" ]

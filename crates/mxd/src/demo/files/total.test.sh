[ "$(sh tally.sh total tests/expenses.txt)" = "61.00" ]

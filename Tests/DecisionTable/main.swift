// Prints the table that `make header` writes into docs/HTTP.md.

print(DecisionTable.text, terminator: "")

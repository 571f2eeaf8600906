package result

// SafeCell is a text as a CSV cell that no spreadsheet runs as a formula: one that
// would be gets a leading apostrophe, as in results.csv.
func SafeCell(text string) string { return neutralise(text) }

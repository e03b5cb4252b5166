// Package doctest tests README and docs: it runs every documented command, and compares every flag, column, JSON field,
// error code, exit code and link with the code.
//
// In the documents, a fence of sh is a script. The comment on the line before it says what to do with it:
//
//	<!-- test -->              run it in the folder of the document's earlier scripts; it must exit with 0
//	<!-- test exit=2 -->       … with that code
//	<!-- test store -->        … with WARP_HOST and keys of a real store in the environment
//	<!-- test port=7761 -->    … with a free port in place of that one in 127.0.0.1:7761
//	<!-- test needs=zstd -->   … where that program is installed
//	<!-- no test: reason -->   leave it alone
//
// A fence of text after "<!-- output -->" is what the script before it writes. It is compared in shape: numbers,
// times and units may differ, lines may not; a line "…" is any number of lines, and one that ends with it has any rest. What a report says about
// the machine is left out of the comparison.
package doctest

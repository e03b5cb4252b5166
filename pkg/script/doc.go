// Package script is the language of benchmark scripts: statements that put, get and delete objects one after the
// other, such as
//
//	PUT 100 OBJECTS MAX 5 CONCURRENT OF SIZE 2 MB;
//	GET 5 OBJECTS AT RATE 10 PER SECOND RUNTIME 1 MINUTE;
//	DELETE;
//
// It reads them, and knows nothing of stores.
package script

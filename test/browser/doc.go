// Package browser tests the pages of reports and runs in Chromium.
package browser

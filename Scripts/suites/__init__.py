"""The test suites of Scripts/test."""

"""Starts a deployment of this project, for tests and measurements: none of these modules needs pytest."""

"""What operators observe: metrics, log lines and traces. The packages above report to it."""

"""Cases held against the real OpenVINO. Start at README.md."""

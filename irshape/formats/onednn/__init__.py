"""oneDNN Graph in its JSON, read into OpenVINO's operations. One module a family of kinds; `declaration` says how one is declared, `reader` puts a graph together."""

"""What a file says: layers, ports, edges, bodies, constants; nothing inferred, nothing corrected."""

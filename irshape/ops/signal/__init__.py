"""Signal processing operations: Fourier transforms, whole and frame by frame."""

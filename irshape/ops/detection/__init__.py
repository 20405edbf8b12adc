"""Detection and the sorting of detections: priors, proposals, pooling of regions, suppression of overlapping boxes. One module a family."""

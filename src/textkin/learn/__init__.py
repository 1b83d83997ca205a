"""What people do with distances: classify with evidence, cluster, find duplicates."""

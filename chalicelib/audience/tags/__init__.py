"""Tags of everybody: renamed, merged and removed by a job, in slices."""

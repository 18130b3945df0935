"""Who does the work: processes of this machine, of a cluster, or whatever the caller has; one interface for all."""

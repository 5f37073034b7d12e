"""What the operator knows of the cluster: parsed objects, newest version wins, never proof of absence."""

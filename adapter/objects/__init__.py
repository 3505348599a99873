"""Which objects match: a store of metadata by namespace and label. Pure."""

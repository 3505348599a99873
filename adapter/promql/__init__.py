"""The query language side: quoting, templates, answers of a backend. Pure."""

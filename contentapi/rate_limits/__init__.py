"""Rate limits: how much a credential or an address may request, and the headers that report the rest."""

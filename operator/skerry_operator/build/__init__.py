"""Objects as they should be, as JSON, out of our own kinds and settings. Pure; golden files pin them."""

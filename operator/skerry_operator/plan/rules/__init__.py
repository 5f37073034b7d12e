"""The rules that plan_run is made of, grouped by what they are about; each answers or passes on."""

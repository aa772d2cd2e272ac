"""Tests of the three packages; `strategies` draws valid objects, `oracles` holds the definitions as naive loops."""

"""The one place that says which Gna this is."""

VERSION = "0.1.0"

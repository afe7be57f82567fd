"""The version of Gna."""

VERSION = "0.1.0"

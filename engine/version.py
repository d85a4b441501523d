"""The version of the engine: part of every signature."""

VERSION = "0.1.0"

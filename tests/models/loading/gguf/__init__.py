"""GGUF files: written as the converter of the format does, and read as models."""

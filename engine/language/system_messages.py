"""What the operating system and Python's readers of files say of a fault: the values of our messages.

They stand here for the catalogue of translations alone.
"""

from __future__ import annotations

from engine.translation import mark

OF_THE_SYSTEM = (
    mark("No such file or directory"), mark("Permission denied"), mark("Is a directory"), mark("Not a directory"),
    mark("File exists"), mark("Directory not empty"), mark("No space left on device"), mark("Disk quota exceeded"),
    mark("Read-only file system"), mark("File name too long"), mark("Input/output error"),
    mark("Too many open files"), mark("Device or resource busy"), mark("Connection refused"),
)
OF_JSON = (
    mark("Expecting value"), mark("Expecting ',' delimiter"), mark("Expecting ':' delimiter"), mark("Extra data"),
    mark("Expecting property name enclosed in double quotes"), mark("Unterminated string starting at"),
    mark("Invalid control character at"), mark("Invalid \\escape"),
    mark("{fault}: line {line:,} column {column:,} (char {position:,})"),
)
OF_ARCHIVES = (
    mark("File is not a zip file"), mark("Truncated file header"), mark("Bad magic number for central directory"),
    mark("Bad magic number for file header"), mark("Bad CRC-32 for file {name}"), mark("unexpected end of data"),
    mark("Compressed file ended before the end-of-stream marker was reached"),
    mark("file could not be opened successfully"),
    mark("Not a gzipped file ({start})"), mark("CRC check failed {given} != {computed}"),
)
OF_XML = (
    mark("no element found"), mark("mismatched tag"), mark("not well-formed (invalid token)"), mark("syntax error"),
    mark("undefined entity"), mark("undefined entity {name}"), mark("junk after document element"),
    mark("unclosed token"), mark("duplicate attribute"), mark("unclosed CDATA section"),
)

"""One point of the code changed at a time: do the tests notice?"""

"""The HTTP service over studies.

options     what a server is started with
app         the application: routes, guards, errors
guard       what every request must pass: its address, its size, its rate, who makes it
tokens      named secrets with roles, kept as hashes
problems    errors as documents that say what to do
shelf       the studies that are served, each opened once
work        threads for what takes long, and bounds of time
documents   what is said of a study; columns: of all its arms; progress: of its past
live        who watches a study, and is told that it changed
shapes      the documents of the interface, for OpenAPI
routes/     the interface
demo        a study to play with
running     the server process
"""

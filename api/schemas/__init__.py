"""What goes in and out over HTTP, one module for each resource; the modules named here are what they are built from.

`base` (schemas and fields), `paging`, `conditional` (ETags), `blueprint` (routes that document themselves).
"""

"""Maps from programs to source lines, the explorer, costs, and the command line.

It reads what tracing has recorded; nothing here changes a program.
"""

"""Faces of other libraries: change an import, keep the script."""

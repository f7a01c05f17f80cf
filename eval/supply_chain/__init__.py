"""Licences of the packages that nsrecover needs, and a bill of materials."""

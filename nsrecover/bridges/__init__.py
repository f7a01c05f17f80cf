"""Adapters for other frameworks. Each needs the package of its framework, which an extra of nsrecover installs."""

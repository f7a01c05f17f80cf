"""Sensor models: what a real depth camera and a real segmenter make of a rendered scene."""

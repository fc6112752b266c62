"""Instances that boot, register as nodes and get interfaces for their pods."""

"""Soft actor-critic as a baseline (Kalithasan et al., section VI): a policy that puts objects where a goal has them."""

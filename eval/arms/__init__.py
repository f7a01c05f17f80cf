"""`python -m eval.arms`: what each learned part contributes, on the same episodes."""

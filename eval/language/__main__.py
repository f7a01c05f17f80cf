"""`python -m eval.language`: what reaches the user when a language model words explanations of stored error states."""

from eval.common.command import run
from eval.language.command import LanguageConfig, measure

if __name__ == "__main__":
    run("language", LanguageConfig, measure, resumable=True)

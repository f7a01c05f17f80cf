"""`python -m eval.language`: accuracy of explanations of stored error states that a language model words."""

from eval.common.command import run
from eval.language.command import LanguageConfig, measure

if __name__ == "__main__":
    run("language", LanguageConfig, measure, resumable=True)

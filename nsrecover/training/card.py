"""The model card that goes with a checkpoint."""

import json

from nsrecover.models.bundle import BundleConfig
from nsrecover.models.checkpoint import CONFIG


def model_card(config: BundleConfig) -> str:
    """Markdown: what it is, what it was trained on and with which command, and what was measured on held-out data."""
    source = config.provenance
    return f"""# nsrecover checkpoint

Object encoder (ResNet, blocks {config.encoder_blocks}), scene-graph transition model, node discriminator and free-space
transformer for table-top scenes of cubes, dice and bricks seen by two RGB-D cameras.

- Data: {source.get("episodes")} successful demonstrations, {source.get("transitions")} transitions
  (fingerprint {source.get("data")}); held out for calibration and measurement: fingerprint {source.get("held_out")}.
- Command: `{source.get("command")}`, seed {source.get("seed")}, revision {source.get("revision")},
  torch {source.get("torch")}, on {source.get("device")}; seconds: {source.get("seconds")}.
{_parts(config)}- All settings it was trained with: `provenance.settings` in {CONFIG}. The operators' vocabulary, in the
  order of the action embedding: `operators` in the same file. The encoder's input normaliser (mean and deviation of
  each colour channel) is part of the encoder (`nsrecover.models.encoder.ObjectEncoder`): crops go in as bytes.
- Labels: none but the demonstrations' own; no failure was seen in training.
- Weights are stored as safetensors; nothing is unpickled when it is loaded.

Measured on held-out episodes that were used neither for training nor for the threshold:

```json
{json.dumps(dict(config.metrics), indent=2)}
```
"""


def _parts(config: BundleConfig) -> str:
    """A line for every part whose weights come from a training of its own; nothing if there is none."""
    return "".join(
        f"- The {part} part was trained by itself and put in place of the one of that run: `{how['command']}`, "
        f"seed {how['seed']},\n  revision {how['revision']}; seconds: {how['seconds']}.\n"
        for part, how in config.provenance.get("parts", {}).items()
    )

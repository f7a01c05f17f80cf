"""Photographs and sounds of a report: outlines are where the objects are, and budgets are kept."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from nsrecover.core import Camera, SceneGraph
from nsrecover.records.recording import example
from nsrecover.records.wav import read_wav
from nsrecover.serving.reports import media as media_module
from nsrecover.serving.reports import pictures
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.media import Clip, Extra, Media, Photo, sounds_of
from nsrecover.serving.reports.model import MarkedAs
from nsrecover.serving.reports.page import html_of
from nsrecover.serving.reports.pictures import Album, outline_of_box, outlines, view_of
from tests.nsrecover.explanation.made_episodes import flawless
from tests.nsrecover.serving.reports.shown_reports import recorded, tone

AHEAD = Camera(
    np.array([[100, 0, 50], [0, 100, 40], [0, 0, 1]], np.float32), np.eye(4, dtype=np.float32)
)  # looks along z


def inside(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Whether points are in a convex polygon, whichever way it turns."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    sides = np.stack([np.cross(edge, points - corner) for edge, corner in zip(edges, polygon, strict=True)])
    return np.all(sides >= -1e-9, axis=0) | np.all(sides <= 1e-9, axis=0)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
def test_outlines_of_a_real_recording_contain_its_masks() -> None:
    report, seen = recorded(), example().observations[-1]
    names = {name: number for number, name in seen.labels.items()}
    after = report.steps[-1].pictures[1]
    observed = [outline for outline in after.outlines if not outline.expected]
    assert len(observed) == 5
    for outline in observed:
        rows, columns = np.nonzero(seen.instances[0] == names[outline.name])
        polygon = np.array([[float(x) for x in point.split(",")] for point in outline.points.split()])
        assert inside(polygon, np.c_[columns, rows] + 0.5).mean() > 0.9, outline.name
    left, _, width, height = after.view
    assert left >= 0
    assert left + width <= seen.rgb.shape[2]
    assert width < seen.rgb.shape[2]  # shown larger
    assert height / width == pytest.approx(seen.rgb.shape[1] / seen.rgb.shape[2], abs=0.01)


def test_a_missing_object_has_no_outline_and_its_place_a_dashed_one() -> None:
    photo = Photo(np.zeros((80, 100, 3), np.uint8), AHEAD)
    boxes = np.array([[0.0, 0.0, 1.0, 0.1, 0.1, 0.1]], np.float32)
    scene = SceneGraph(("cube",), np.zeros((1, 0), np.float32), boxes, np.ones(1, np.bool_))
    gone = SceneGraph(("cube",), np.zeros((1, 0), np.float32), boxes, np.zeros(1, np.bool_))
    assert outlines(photo, gone, {"cube": MarkedAs.ERROR}) == []
    (place,) = outlines(photo, scene, {"cube": MarkedAs.ERROR}, expected=True)
    assert place.expected
    assert view_of([photo], [gone]) is None
    assert outline_of_box((0.0, 0.0, -1.0, 0.2, 0.1, 0.1), AHEAD) is None  # it is behind the camera


def noise(count: int, size: tuple[int, int] = (600, 800)) -> list[Photo]:
    rng = np.random.default_rng(0)
    return [Photo(rng.integers(0, 256, (*size, 3), dtype=np.uint8)) for _ in range(count)]


def test_photographs_are_stored_once_and_get_smaller_until_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "BUDGET_BYTES", 150_000)
    one, other, *_ = photos = noise(5)
    album = Album([Media(one, other), Media(other, one)])
    assert len(album.images) == 2
    assert [album.picture("Before", photo, ()).image for photo in (one, other)] == [0, 1]
    many = Album([Media(photo, None) for photo in photos])
    sizes = [len(base64.b64decode(image.href.split(",")[1])) for image in many.images]
    assert sum(sizes) <= pictures.BUDGET_BYTES
    widths = {Image.open(io.BytesIO(base64.b64decode(image.href.split(",")[1]))).width for image in many.images}
    assert max(widths) < pictures.WIDEST
    assert {(image.width, image.height) for image in many.images} == {(800, 600)}  # outlines refer to these


def test_sounds_are_played_as_they_were_or_left_out_where_nothing_happened() -> None:
    (short,) = sounds_of([tone(0.5, 440.0)], [MarkedAs.OK])
    samples, rate_hz = read_wav(short.wav)
    assert rate_hz == 16_000
    assert np.abs(np.fft.rfft(samples)).argmax() / 0.5 == 440
    assert short.seconds == 0.5
    kinds = [MarkedAs.OK, MarkedAs.ERROR, *[MarkedAs.OK] * 6]
    found = sounds_of([tone(20.0, 440.0)] * 8, kinds)
    kept = [sound.wav is not None for sound in found]
    assert kept[1]
    assert not kept[-1]
    assert sum(len(sound.wav or b"") for sound in found) <= media_module.BUDGET_BYTES + 8 * 100
    assert all(sound.loudness for sound in found)
    assert read_wav(found[1].wav)[1] == 8_000
    assert sounds_of([None, Clip(np.zeros(0, np.float32), 16_000)], kinds[:2])[1].wav is None


def test_the_page_stays_below_its_limit_whatever_it_is_given() -> None:
    first, second = noise(2, (1200, 1600))
    media = [Media(first, second, tone(60.0, 300.0)), Media(second, first, tone(60.0, 500.0))]
    film = Extra("episode.mp4", "Film", bytes(3_000_000), "video/mp4")
    page = html_of(report_of(flawless(), "Good", media=media, extras=[film]))
    assert len(page.encode()) <= 5_000_000
    assert "The film is too large for this page" in page
    assert "<video" not in page
    small = html_of(report_of(flawless(), "Good", extras=[Extra("episode.mp4", "Film", bytes(1000), "video/mp4")]))
    assert "<video" in small
    assert "There are no photographs" in small
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)

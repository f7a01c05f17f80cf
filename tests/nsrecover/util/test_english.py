"""English: every rule by its cases, and by its siblings."""

import pytest

from nsrecover.util import english


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("cube", "a cube"), ("apple slice", "an apple slice"), ("egg", "an egg"), ("hour", "an hour"),
        ("unit", "a unit"), ("user", "a user"), ("utensil", "a utensil"), ("umbrella", "an umbrella"),
        ("onion", "an onion"), ("one-way valve", "a one-way valve"), ("8-pin plug", "an 8-pin plug"),
        ("80 cm tube", "an 80 cm tube"), ("x axis", "an x axis"), ("house plant", "a house plant"),
        ("eucalyptus", "a eucalyptus"), ("oven", "an oven"), ("Orange cube", "an Orange cube"),
        ("unopened can", "an unopened can"), ("unicycle", "a unicycle"),
    ],
)  # fmt: skip
def test_the_indefinite_article_follows_the_sound(noun: str, expected: str) -> None:
    assert english.a(noun) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("red cube", "the red cube"), ("the red cube", "the red cube"), ("The Hague", "The Hague"), ("my mug", "my mug"),
     ("theatre", "the theatre"), ("a", "the a"), ("first stove burner", "the first stove burner"),
     ("all_steps_succeeded", "the \u201call_steps_succeeded\u201d"), ("OK", "the \u201cOK\u201d"),
     ("box-2_b", "the box-2_b"),
     ("it-went-well", "the \u201cit-went-well\u201d"), ("as expected", "the \u201cas expected\u201d")],
)  # fmt: skip
def test_a_name_gets_one_article(name: str, expected: str) -> None:
    assert english.the(name) == expected


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        (verb, f"{stem}ing")
        for verb, stem in {
            "put": "putt", "set": "sett", "spin": "spinn", "slip": "slipp", "unplug": "unplugg", "reset": "resett",
            "quit": "quitt", "grab": "grabb", "begin": "beginn", "transfer": "transferr", "overlap": "overlapp",
            "open": "open", "pour": "pour", "mix": "mix", "visit": "visit", "read": "read", "rest": "rest",
            "follow": "follow", "press": "press", "add": "add", "do": "do", "go": "go", "heat": "heat",
            "slice": "slic", "toggle": "toggl", "see": "see", "free": "free", "tie": "ty", "untie": "unty",
            "water": "water", "deliver": "deliver", "fix": "fix", "play": "play", "cook": "cook", "miss": "miss",
        }.items()
    ],
)  # fmt: skip
def test_gerunds(verb: str, expected: str) -> None:
    assert english.gerund(verb) == expected


def test_a_participle_phrase_changes_the_verb_only() -> None:
    assert english.doing("put the cube on the die") == "putting the cube on the die"
    assert english.doing("spin") == "spinning"


@pytest.mark.parametrize(
    ("count", "noun", "words", "digits"),
    [
        (1, "error", "one error", "1 error"), (0, "scene", "no scenes", "0 scenes"), (2, "box", "two boxes", "2 boxes"),
        (13, "recovery", "13 recoveries", "13 recoveries"), (12, "match", "twelve matches", "12 matches"),
        (2000, "way", "2000 ways", "2,000 ways"),
    ],
)  # fmt: skip
def test_a_noun_agrees_with_its_number(count: int, noun: str, words: str, digits: str) -> None:
    assert english.counted(count, noun) == words
    assert english.amount(count, noun) == digits


@pytest.mark.parametrize(
    ("count", "expected"), [(1, "first"), (12, "twelfth"), (13, "13th"), (21, "21st"), (111, "111th"), (42, "42nd")]
)
def test_ordinals(count: int, expected: str) -> None:
    assert english.ordinal(count) == expected


def test_lists() -> None:
    assert english.listed([]) == ""
    assert english.listed(["a"]) == "a"
    assert english.listed(["a", "b"], "or") == "a or b"
    assert english.objects(["cube", "the die", "mug"]) == "the cube, the die and the mug"


@pytest.mark.parametrize(
    ("name", "many"),
    [("scissors", True), ("glass", False), ("bus", False), ("tomatoes", True), ("iris", False), ("camera lens", False),
     ("potato slices", True), ("mug", False), ("S", False)],
)  # fmt: skip
def test_plural_names(name: str, many: bool) -> None:
    assert english.is_plural(name) is many


@pytest.mark.parametrize(
    ("template", "terms", "said", "denied"),
    [
        ("{0} is wet", ("rose",), "the rose is wet", "the rose is not wet"),
        ("the {0} is wet", ("rose",), "the rose is wet", "the rose is not wet"),
        ("the {0} is wet", ("the rose",), "the rose is wet", "the rose is not wet"),
        ("{0} filled with {1!s}", ("mug", "water"), "the mug is filled with water", "the mug is not filled with water"),
        ("{0} not in {1}", ("mug", "sink"), "the mug is not in the sink", "the mug is in the sink"),
        ("{0} stands on {1}", ("a", "b"), "the a stands on the b", "the a does not stand on the b"),
        ("{0} already stands on {1}", ("a", "b"), "the a already stands on the b",
         "the a does not already stand on the b"),
        ("{0} exists", ("apple slice",), "the apple slice exists", "the apple slice does not exist"),
        ("{0} exists", ("apple slices",), "the apple slices exist", "the apple slices do not exist"),
        ("{0} is on {1}", ("scissors", "mat"), "the scissors are on the mat", "the scissors are not on the mat"),
        ("{0} has been asked", ("Ann",), "the Ann has been asked", "the Ann has not been asked"),
        ("{0} can be reached", ("mug",), "the mug can be reached", "the mug cannot be reached"),
        ("there is room for {1} on {0}", ("tray", "mug"), "there is room for the mug on the tray",
         "there is no room for the mug on the tray"),
        ("rain outside", (), "rain outside", "it is not true that rain outside"),
        ("there is no way to {0}", ("sink",), "there is no way to the sink", "there is way to the sink"),
        ("{0} stands where {1} has to go", ("a", "b"), "the a stands where the b has to go",
         "the a does not stand where the b has to go"),
        ("{0} has a door", ("fridge",), "the fridge has a door", "the fridge does not have a door"),
        ("there is a tool", (), "there is a tool", "there is no tool"),
        ("the gripper is empty", (), "the gripper is empty", "the gripper is not empty"),
        ("the way to {0} is open", ("stairs",), "the way to the stairs is open", "the way to the stairs is not open"),
        ("the robot is next to {0}", ("is there",), "the robot is next to the “is there”",
         "the robot is not next to the “is there”"),
    ],
)  # fmt: skip
def test_clauses_agree_and_are_negated(template: str, terms: tuple[str, ...], said: str, denied: str) -> None:
    assert english.clause(template, *terms) == said
    assert english.clause(template, *terms, holds=False) == denied


@pytest.mark.parametrize(
    ("singular", "expected"),
    [("is", "are"), ("lies", "lie"), ("stands", "stand"), ("has", "have"), ("reaches", "reach"), ("misses", "miss"),
     ("carries", "carry"), ("goes", "go"), ("closes", "close"), ("fell", "fell")],
)  # fmt: skip
def test_verbs_agree_with_their_subject(singular: str, expected: str) -> None:
    assert english.Forms.of(("a", "b")).verb(singular) == expected
    assert english.Forms.of(("a",)).verb(singular) == singular


def test_pronouns() -> None:
    one, many = english.Forms.of(("cube",)), english.Forms.of(("scissors",))
    text = "[is] where [they] should be, in [their] place: nothing touched [them]"
    assert one.agree(text) == "is where it should be, in its place: nothing touched it"
    assert many.agree(text) == "are where they should be, in their place: nothing touched them"

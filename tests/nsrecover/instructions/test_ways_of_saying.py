"""Wishes, corrections, statements and looks in the words of everyday speech, and what is asked or refused of them."""

import pytest

from nsrecover.domains.service.home import Home, Item, Place, Resident
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.choosing import task_text
from nsrecover.instructions.task import Task, TaskQuestion
from nsrecover.instructions.understanding import Understanding

HOME = load_home("apartment")
ROBOT = Understanding(HOME)
DONE = {
    "why don't you take the lemon to the desk?": "put the lemon on the desk",
    "you couldn't bring me the pear, could you?": "bring the pear to you",
    "jordan would really like a pear": "bring the pear to Jordan",
    "morgan gets the lemon, jordan the pear": "bring the lemon to Morgan and bring the pear to Jordan",
    "go to the bed, no wait, go to the desk": "go to the desk",
    "put the sponge in, i mean on the sideboard": "put the sponge in the sideboard",
    "have you seen my watch? Take a look on the desk": "find the watch from the desk and tell you: what I found out",
    "once you have found the sponge, put it in the sink": "put the sponge in the sink",
    "put it on the desk when you have picked up the lemon": "put the lemon on the desk",
    "jordan does not know where the desk is, take him there": "guide Jordan to the desk",
    "the lemon is mouldy. Into the trash bin.": "put the lemon in the trash bin",
    "take the sponge to the sink, and the spoon too": "put the sponge in the sink and put the spoon in the sink",
    "take both the lemon and the pear to the sofa": "put the lemon on the sofa and put the pear on the sofa",
    "see whether jordan is in the kitchen": "go to Jordan at the kitchen and tell you: what I found out",
    "stay behind morgan until she is at the entrance": "follow Morgan to the entrance",
    "the sideboard is where the lemon belongs": "put the lemon in the sideboard",
    "set a spoon on the dining table for jordan": "put the spoon on the dining table",
    "bring me the lemon instead of the pear": "bring the lemon to you",
    "get me the, the lemon": "bring the lemon to you",
    "put both mugs in the dishwasher": "put the red mug in the dishwasher and put the blue mug in the dishwasher",
    "tell ashley and charlie that dinner is ready": "tell Ashley: dinner is ready and tell Charlie: dinner is ready",
    "ask charlie where the milk is": "ask where the milk is",
}
FRAMES = (
    "might you {}", "would somebody {}", "i was wondering if you might {}", "it would be lovely if you would {}",
    "any chance you could {}", "i would prefer you to {}", "make sure that you {}", "you are supposed to {}",
    "what i need is for you to {}", "if you have a moment, {}", "{}, if that is ok with you", "somebody should {}",
    "my feet hurt, please {}", "{} so that i can rest", "all i want is that you {}", "hurry up and {}",
)  # fmt: skip
STATES = (
    "i would like the {0} to be {1}", "make sure the {0} gets {1}", "the {0} must be {1}", "could the {0} be {1}",
    "have the {0} {1}", "it would be nice if the {0} was {1}", "the {0} has to be {1}",
)  # fmt: skip
WISHES = (
    "jordan could do with {}", "what jordan needs is {}", "make sure jordan gets {}", "{} for jordan, please",
    "{} is for jordan", "i want jordan to have {}", "let jordan have {}", "see to it that {} gets to jordan",
    "go to jordan with {}", "provide jordan with {}", "could jordan get {}", "{} should be brought to jordan",
)  # fmt: skip
SOUGHT = (
    "do you know where {} is", "i can not find {} anywhere", "where could {} be", "i have no idea where i put {}",
    "i am searching for {}", "{} is missing", "have you come across {}", "find out where {} is",
)  # fmt: skip
UNSAID = (
    "nobody should take the lemon", "let jordan take the lemon", "i would like to take the lemon",
    "jordan takes the lemon", "chuckle the lemon to jordan", "wait until jordan takes the lemon",
    "you took the lemon", "i want to open the fridge", "should i put the lemon on the desk",
)  # fmt: skip
ASKED = (
    "bring the lemon or the pear to jordan",
    "bring me the thing",
    "find jordan and morgan and bring her to the sofa",
    "move the pear",
    "I want the banana on the desk",
)
NOTED = {
    "put the lemon on the fridge": "not on it",
    "hand me those lemons": "how many",
    "gladly bring me the lemon": "gladly",
}


def _done(sentence: str) -> str:
    found = ROBOT.task(sentence)
    assert isinstance(found, Task), found
    return task_text(found, HOME)


@pytest.mark.parametrize("sentence", DONE)
def test_a_way_of_saying_is_read(sentence: str) -> None:
    assert _done(sentence) == DONE[sentence]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_request_says_what_its_command_says(frame: str) -> None:
    for command in ("put the lemon on the desk", "switch the desk lamp off", "take the lemon to jordan"):
        assert _done(frame.format(command)) == _done(command)


@pytest.mark.parametrize("frame", STATES)
def test_a_wished_state_is_brought_about(frame: str) -> None:
    assert _done(frame.format("lemon", "put on the desk")) == "put the lemon on the desk"
    assert _done(frame.format("desk lamp", "switched off")) == "turn off the desk lamp"


@pytest.mark.parametrize("frame", WISHES)
def test_a_wish_brings_something_to_whom_it_names(frame: str) -> None:
    assert _done(frame.format("the lemon")) == "bring the lemon to Jordan"


@pytest.mark.parametrize("frame", SOUGHT)
def test_what_is_missed_is_looked_for(frame: str) -> None:
    assert _done(frame.format("the lemon")).startswith("find the lemon")


@pytest.mark.parametrize("sentence", UNSAID)
def test_what_is_not_commanded_is_not_done(sentence: str) -> None:
    assert not isinstance(ROBOT.task(sentence), Task)


@pytest.mark.parametrize("sentence", ASKED)
def test_what_may_mean_several_things_is_asked(sentence: str) -> None:
    assert isinstance(ROBOT.task(sentence), TaskQuestion)


@pytest.mark.parametrize("sentence", NOTED)
def test_what_changes_nothing_is_noted(sentence: str) -> None:
    found = ROBOT.task(sentence)
    assert isinstance(found, Task)
    assert any(NOTED[sentence] in note for note in found.notes)


def _kitchen(*objects: str) -> Understanding:
    places = {
        name: Place(name, "kitchen", (float(k), 0.0)) for k, name in enumerate(("shelf", "microwave", "trash bin"))
    }
    places["kitchen"] = Place("kitchen", "kitchen", (0.0, 1.0))
    items = {name: Item(name, name, "shelf") for name in objects}
    categories = {"fruit": ("plum", "fig"), "jar": ("metal jar", "plastic jar", "glass jar")}
    return Understanding(
        Home("k", places, items, {"operator": Resident("operator", "kitchen")}, categories, robot="kitchen")
    )


def test_a_quality_tells_which_object_is_meant() -> None:
    found = _kitchen("plum", "sponge").task("It is rotten. Throw it away.")
    assert isinstance(found, Task)
    assert found.stages[0].goal == (("at", "plum", "trash bin"),)
    assert isinstance(_kitchen("plum", "fig").task("It is rotten. Throw it away."), TaskQuestion)


def test_only_objects_that_may_go_there_are_offered() -> None:
    found = _kitchen("metal jar", "plastic jar").task("put the jar in the microwave")
    assert isinstance(found, Task)
    assert "plastic jar" in found.stages[0].things
    question = _kitchen("metal jar", "plastic jar", "glass jar").task("put the jar in the microwave")
    assert isinstance(question, TaskQuestion)


def test_beside_one_of_several_objects_is_asked_with_what_can_be_done() -> None:
    robot = _kitchen("plum", "fig", "sponge")
    question = robot.task("put the sponge next to the fruit")
    assert isinstance(question, TaskQuestion)
    assert question.options == ("plum", "fig")
    chosen = robot.task("put the sponge next to the fruit", {question.phrase: "fig"})
    assert isinstance(chosen, Task)
    assert chosen.stages[0].goal == (("at", "sponge", "shelf"),)

"""What customers of a shop, a clinic or an airline say: what holds, what changed, what ended."""

from __future__ import annotations

import pytest

from tests.unit.memory_flows import Facts, holds

ENDED: list[tuple[str, str]] = [
    ("My membership number is HX-772013.", "I'm no longer a member."),
    ("I'm a gold member.", "I let my membership lapse last year."),
    ("I'm a gold member.", "My membership has expired."),
    ("I'm on the premium plan.", "I cancelled the premium plan."),
    ("I'm on the premium plan.", "I've cancelled my subscription."),
    ("I'm on the family plan.", "I'm not on the family plan any more."),
    ("We're on the Business plan.", "We've cancelled the Business plan."),
    ("My account number is 3341-882.", "I closed that account last week."),
    ("My policy number is PH-30-7716.", "I cancelled that policy last month."),
    ("My mobile is 07700 900771.", "That number's been disconnected."),
    ("My email is kim@birch.example.", "I closed that email account."),
    ("My email is kim@birch.example.", "Please take that email address off my file."),
    ("My address is 2 Beech Grove, York.", "I no longer live at that address."),
    ("My doctor is Dr Osei.", "I've switched to a new practice."),
    ("I pay with Klarna.", "I've stopped using Klarna."),
    ("WhatsApp is best for me.", "I've deleted WhatsApp."),
    ("I prefer the window.", "Any seat is fine from now on."),
    ("I always order the kosher meal.", "No more kosher meals for me, I take the normal one now."),
    ("I'm vegan.", "I've started eating meat again."),
    ("I'm lactose intolerant.", "I can have dairy again."),
    ("I'm diabetic.", "My doctor says I'm not diabetic any more."),
    ("I always stay at the Ibis.", "I don't stay at the Ibis any more."),
    ("We have a dog called Biscuit.", "Biscuit died in March."),
]  # fmt: skip


@pytest.mark.parametrize(("before", "end"), ENDED)
def test_what_ended_holds_no_more(before: str, end: str) -> None:
    known = holds(before)

    assert known
    assert [fact for fact in holds(before, end) if fact in known] == []


def test_who_parted_has_no_partner_any_more() -> None:
    known = holds("My wife is called Ana.", "We got divorced in spring.")

    assert known == [("marital_status", "divorced")]


KEPT: list[tuple[str, str]] = [
    ("I'm a gold member.", "What if I cancelled my membership?"),
    ("I'm a gold member.", "I almost cancelled my membership."),
    ("I'm a gold member.", "I'm no longer a member of the tennis club."),
    ("I'm a gold member.", "My husband cancelled his membership."),
    ("I'm a gold member.", "I cancelled my gym membership."),
    ("My account number is 3341-882.", "I closed my account with Northbank."),
    ("My policy number is 66-120-9.", "I cancelled the trip, does the policy pay?"),
    ("My mobile is 07700 900771.", "Your number no longer works."),
    ("My address is 2 Beech Grove, York.", "My tenant doesn't live at that address any more."),
    ("My address is 2 Beech Grove, York.", "My parents moved to 9 Dale Street, Hull."),
    ("My wife is called Ana.", "We split up into two groups."),
    ("My wife is called Ana.", "My sister got divorced last year."),
    ("My doctor is Dr Osei.", "My wife changed doctors."),
    ("I pay by PayPal.", "I cancelled the PayPal payment for that order."),
    ("I prefer the aisle.", "Any seat is fine for this trip."),
    ("I'm vegetarian.", "My husband eats meat again."),
    ("I'm allergic to nuts.", "My son isn't allergic to nuts any more."),
    ("I'm allergic to nuts.", "Our little one isn't allergic to nuts any more."),
    ("I have a dog called Biscuit.", "My aunt Frieda died in March."),
]  # fmt: skip


@pytest.mark.parametrize(("before", "then"), KEPT)
def test_what_others_end_or_nobody_ends_stillholds(before: str, then: str) -> None:
    assert holds(before, then) == holds(before) != []


CHANGED: list[tuple[tuple[str, ...], Facts]] = [
    (("My doctor is Dr Hale.", "I changed doctors, I'm with Dr Osei now."),
     [("doctor", "Dr Osei")]),
    (("I always fly from Stansted.", "Since I moved I fly from Bristol instead."),
     [("preferred_airport", "Bristol")]),
    (("My phone is 07700 900771.", "Can you change my phone number to 07700 900772?"),
     [("phone", "07700 900772")]),
    (("My address is 2 Beech Grove, York.", "My address is 7 Ash Grove, York.",
      "I'm back at 2 Beech Grove, York."), [("address", "2 Beech Grove, York")]),
    (("My address isn't 16 Mill Street, it's 61 Mill Street.",), [("address", "61 Mill Street")]),
    (("I can only come in on Mondays.", "Mondays don't work any more, only Fridays now."),
     [("availability", "Fridays")]),
    (("My spending limit is 500 euros a month.", "Raise my limit to 800 euros."),
     [("budget", "800 EUR")]),
    (("My emergency contact is Rosa Lind.",
      "Rosa is not my emergency contact any more, it's my son Emil now."),
     [("child", "Emil"), ("emergency_contact", "Emil")]),
    (("My name is Kay Lind.", "Please correct my name, it's spelled Kaye Lind."),
     [("name", "Kaye Lind")]),
    (("Always leave my parcels in the shed.",
      "Don't leave parcels in the shed any more. Put them behind the green bin."),
     [("delivery_place", "behind the green bin")]),
    (("I'm a gold member.", "A: Are you still a gold member?\nNo, silver."),
     [("membership_level", "silver")]),
]  # fmt: skip


@pytest.mark.parametrize(("sessions", "facts"), CHANGED)
def test_what_changed_holds_as_it_was_said_last(sessions: tuple[str, ...], facts: Facts) -> None:
    assert holds(*sessions) == facts


LEARNED: list[tuple[str, Facts]] = [
    ("I'm vegetarian, so a veggie meal on every flight please.",
     [("diet", "vegetarian"), ("meal", "veggie")]),
    ("I've a budget of 900 pounds for flights.", [("budget_flights", "900 GBP")]),
    ("My daughter Mira has a nut allergy.", [("child", "Mira")]),
    ("I'm Sofie, customer K-99121, and I'd like to report a leak.",
     [("customer_number", "K-99121"), ("name", "Sofie")]),
    ("Tuesdays never work for me.", [("availability", "not Tuesdays")]),
    ("A: From which airport do you usually fly?\nHamburg.", [("preferred_airport", "Hamburg")]),
    ("A: What class do you usually fly?\nBusiness.", [("preferred_class", "Business")]),
    ("A: What city were you born in?\nPorto.", [("hometown", "Porto")]),
    ("A: In which city do you live?\nMalmo", [("home_city", "Malmo")]),
    ("That's not my number, it's 030 1234567.", [("phone", "030 1234567")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "facts"), LEARNED)
def test_what_a_customer_says_is_learned(text: str, facts: Facts) -> None:
    assert holds(text) == facts


OF_NOBODY = [
    "A: Which city are you flying from?\nBerlin.",
    "A: What city would you like to fly to?\nOslo",
    "A: Which city is the restaurant in?\nGhent.",
    "A: And what's your departure city?\nMalmo",
    "A: What's your phone number?\nIt's not my phone number, 030 1234567.",
    "It isn't my email, lars@fjord.example.",
    "A: What name is the booking under?\nPetersen.",
    "A: And the passenger's date of birth?\n12 March 1990",
    "A: And the guest's email address?\nmira@wren.example",
    "A: What is your emergency contact's phone number?\n07700 900781",
    "A: What's the passport number of the second passenger?\nK11204455",
    "A: How old are the children?\n4 and 7.",
    "A: How many people are in your party?\nFour.",
    "A: Which plan would you like to switch to?\nPremium.",
    "Please change the name on the ticket to Julia Brandt.",
    "Can you change the address on my order to 5 Elm Court, Leeds?",
    "Can you change my son's number to 07700 900782?",
    "Passenger 2: Mira Brandt, born 2 Feb 2014.",
    "My parents moved to Graz.",
    "My daughter went to Lisbon.",
    "We are four people in the household.",
    "I had a broken leg last year and needed crutches.",
    "Suppose I don't have a credit card any more, I pay by bank transfer now.",
    "My friend wrote: I don't have a credit card any more, I pay by bank transfer now.",
    "My colleague says I'm lactose intolerant.",
]


@pytest.mark.parametrize("text", OF_NOBODY)
def test_what_is_said_of_others_or_of_one_booking_teaches_nothing(text: str) -> None:
    assert holds(text) == []

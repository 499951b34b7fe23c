"""How methods are asked for answers: recall as users ask it, and plain methods at equal tokens."""

from __future__ import annotations

from evals.answering import Plain, Recall, Source, answers, methods
from evals.data import Corpus, Question
from evals.intervals import Share
from evals.promoting import Extractor
from evals.recalling import LEXICAL, line_tokens, recallings
from evals.searching import latest, nothing

CORPUS = Corpus(
    {
        "ada": ["The kiln is in Delft. It was built in 1902.", "I like tea."],
        "bob": ["The kiln is in Ghent."],
    },
    [Question("ada", "where is the kiln?", ("Delft",), "The kiln is in Delft.")],
)


def test_recall_is_asked_of_each_person_for_sentences_and_within_a_budget() -> None:
    with recallings(CORPUS, None, None) as ours:
        recall = Recall(ours[LEXICAL])
        [question] = CORPUS.questions
        assert recall.top(question).splitlines()[0] == "The kiln is in Delft."
        assert "Ghent" not in recall.top(question)
        budget = 2 * line_tokens("The kiln is in Delft. It was built in 1902.") + 8
        assert recall.within(question, budget).startswith("The kiln is in Delft. It was built in")
        assert recall.within(question, 3) == ""
        assert answers(recall, CORPUS.questions).budgets[256] == Share(1, 1)


def test_a_plain_method_is_charged_a_line_for_each_text() -> None:
    texts = ["I like tea.", "The kiln is in Delft."]
    plain, [question] = Plain({"ada": texts}, latest), CORPUS.questions
    assert plain.top(question) == "The kiln is in Delft.\nI like tea."
    assert plain.within(question, line_tokens(texts[1])) == "The kiln is in Delft."
    assert answers(Plain({"ada": texts}, nothing), CORPUS.questions).top == Share(0, 1)
    assert answers(Source(), CORPUS.questions).top == Share(1, 1)


def test_what_needs_a_model_or_a_server_is_left_out_without_one() -> None:
    names = set(methods(CORPUS, Extractor(), None, None, {}))
    assert {"BM25 over messages", "source of the answer"} <= names
    assert not {"ts_rank over sentences", "MiniLM over sentences", LEXICAL} & names

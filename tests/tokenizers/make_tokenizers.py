"""Makes the tokenizers of this folder: `python tests/tokenizers/make_tokenizers.py`.

It trains a BPE, a WordPiece and a Unigram tokenizer on the text below and has openvino_tokenizers
convert them. It needs the packages `openvino-tokenizers`, `tokenizers` and `transformers`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
KINDS = tuple(sys.argv[1:]) or ("bpe", "wordpiece", "unigram")

TEXT = """\
A network is a graph of small steps, and every step passes numbers on to the next one.
Whoever reads the graph wants to know which shapes the numbers have: rows, columns, channels.
The reader counts from 0 to 9, from 10 to 1234567890, and writes 3.14159, -2.5e-8 and 50 %.
Don't worry: it's tested, we're sure, they'll see, I'd say so, and you've read it already!
def shape(x: list[int]) -> int:\n    return len(x)  # spaces, tabs\tand newlines\n
Ein Netz ist ein Graf aus kleinen Schritten; jeder Schritt gibt Zahlen an den nächsten weiter. \
Größe, Übung, Straße.
Un réseau est un graphe de petites étapes ; chaque étape transmet des nombres à la suivante. Ça \
va très bien, où ça ?
Una red es un grafo de pequeños pasos, y cada paso entrega números al siguiente. ¿Cuántos? \
¡Muchos, mañana más!
Uma rede é um grafo de pequenos passos; cada passo entrega números ao próximo. Não há exceções, \
só opções.
Sieć jest grafem małych kroków, a każdy krok podaje liczby następnemu. Zażółć gęślą jaźń.
Síť je graf malých kroků a každý krok předává čísla dalšímu. Příliš žluťoučký kůň úpěl ďábelské ódy.
Ağ, küçük adımlardan oluşan bir çizgedir; her adım sayıları sonrakine verir. İğne ıslak, şişe boş.
Сеть — это граф из малых шагов; каждый шаг передаёт числа следующему. Съешь ещё этих мягких булок.
Мережа — це граф із малих кроків; кожен крок передає числа наступному. Її об'єм — ґрунт для думки.
Το δίκτυο είναι ένας γράφος από μικρά βήματα· κάθε βήμα δίνει αριθμούς στο επόμενο. Ωραίο πρωί!
רשת היא גרף של צעדים קטנים, וכל צעד מעביר מספרים לצעד הבא. שלום עולם.
الشبكة رسم بياني من خطوات صغيرة، وكل خطوة تمرر الأرقام إلى الخطوة التالية. مَرْحَبًا بالعالم ١٢٣.
شبکه نموداری از گام‌های کوچک است و هر گام عددها را به گام بعدی می‌دهد. ۴۵۶
नेटवर्क छोटे चरणों का एक ग्राफ है, और हर चरण अगले को संख्याएँ देता है। नमस्ते दुनिया १२३।
নেটওয়ার্ক হলো ছোট ছোট ধাপের একটি গ্রাফ, প্রতিটি ধাপ পরেরটিকে সংখ্যা দেয়। ওহে বিশ্ব।
வலையமைப்பு சிறிய படிகளின் வரைபடம்; ஒவ்வொரு படியும் அடுத்ததற்கு எண்களைத் தருகிறது. வணக்கம்.
เครือข่ายคือกราฟของขั้นตอนเล็กๆ และทุกขั้นตอนส่งตัวเลขไปยังขั้นตอนถัดไป สวัสดีชาวโลก
Mạng là một đồ thị gồm các bước nhỏ; mỗi bước chuyển các con số cho bước tiếp theo. Chào thế giới.
网络是由小步骤组成的图，每一步都把数字传给下一步。你好，世界！一二三四五。
網路是由小步驟組成的圖，每一步都把數字傳給下一步。您好，世界！
ネットワークは小さなステップのグラフで、各ステップは次のステップに数値を渡します。こんにちは、世界。ｶﾀｶﾅ
네트워크는 작은 단계들의 그래프이며, 모든 단계는 다음 단계로 숫자를 전달합니다. 안녕하세요, 세계!
ქსელი არის პატარა ნაბიჯების გრაფი; ყოველი ნაბიჯი გადასცემს რიცხვებს. გამარჯობა მსოფლიო.
Ցանցը փոքր քայլերի գրաֆ է. ամեն քայլ թվեր է փոխանցում հաջորդին։ Բարեւ աշխարհ։
መረብ የትንንሽ እርምጃዎች ግራፍ ነው፤ እያንዳንዱ እርምጃ ቁጥሮችን ያስተላልፋል። ሰላም ዓለም።
😀 👍🏽 👩‍💻 🇪🇺 ❤️ ✓ → ∑ √2 ≤ ∞ ½ ﬁ ℌ Å ① ＡＢＣ … “quotes” ‘single’ — «guillemets» €5 £6 ¥7
"""


RULES = {
    "ﬁ": "fi",
    "①": "1",
    "½": "1/2",
    "\u212b": "\u00c5",
    "…": "...",
    "“": '"',
    "”": '"',
    "ｶ": "カ",
    "ﾅ": "ナ",
}
RULES |= {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
RULES |= {"e\u0301": "é", "a\u0308": "ä", "\t": " ", "\n": " ", "\u00a0": " ", "\u3000": " "}
"""What the normalization of the Unigram tokenizer replaces."""


def characters_map() -> bytes:
    """The rules as SentencePiece compiles them.

    Of the model that it writes, the field 3 (the normalizer) has a field 2 (the map).
    """
    import io

    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tsv"
        lines = (
            "\t".join(" ".join(f"{ord(character):X}" for character in text) for text in rule)
            for rule in RULES.items()
        )
        rules.write_text("\n".join(lines) + "\n")
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TEXT.splitlines()),
            model_writer=model,
            vocab_size=700,
            hard_vocab_limit=False,
            normalization_rule_tsv=str(rules),
            minloglevel=2,
        )
    (normalizer,) = (value for number, value in fields(model.getvalue()) if number == 3)
    (characters,) = (value for number, value in fields(normalizer) if number == 2)
    return characters


def fields(message: bytes):
    """The fields of a protobuf message that hold bytes, with their numbers."""

    def number(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            value |= (message[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 0x80:
                return value, at

    at = 0
    while at < len(message):
        key, at = number(at)
        if key & 7 == 2:
            size, at = number(at)
            yield key >> 3, message[at : at + size]
            at += size
        elif key & 7 == 0:
            _, at = number(at)
        else:
            at += 4 if key & 7 == 5 else 8


def trained(kind: str):
    """A tokenizer of the package `tokenizers`, trained on the text."""
    from tokenizers import (
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    lines = TEXT.splitlines() * 3
    if kind == "bpe":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        special = ["<|endoftext|>", "<|user|>", "<|assistant|>"]
        trainer = trainers.BpeTrainer(
            vocab_size=1200, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        )
    elif kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        trainer = trainers.WordPieceTrainer(
            vocab_size=1500, special_tokens=special, show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.Unigram())
        steps = [
            normalizers.Precompiled(characters_map()),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
        tokenizer.normalizer = normalizers.Sequence(steps)
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        special = ["<unk>", "<s>", "</s>", "<pad>"]
        trainer = trainers.UnigramTrainer(
            vocab_size=1200, special_tokens=special, unk_token="<unk>", show_progress=False
        )
    tokenizer.train_from_iterator(lines, trainer)
    if kind == "wordpiece":
        places = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=places
        )
    if kind == "unigram":
        end = ("</s>", tokenizer.token_to_id("</s>"))
        tokenizer.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[end]
        )
    return tokenizer


SPECIAL = {
    "bpe": {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
    "wordpiece": {
        "unk_token": "[UNK]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    },
    "unigram": {
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
    },
}


def main() -> int:
    """Writes the IRs. The exit status is 1 for one that is too large to be kept here."""
    import openvino
    from openvino_tokenizers import convert_tokenizer
    from transformers import PreTrainedTokenizerFast

    too_large = False
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            trained(kind).save(str(path))
            fast = PreTrainedTokenizerFast(tokenizer_file=str(path), **SPECIAL[kind])
            models = convert_tokenizer(fast, with_detokenizer=True)
        for model, name in zip(models, ("tokenizer", "detokenizer"), strict=True):
            target = FOLDER / f"{kind}_{name}.xml"
            openvino.save_model(model, target)
            size = target.stat().st_size + target.with_suffix(".bin").stat().st_size
            print(f"{target.name}: {len(model.get_ops())} layers, {size / 1000:.0f} kB")
            too_large |= size > 300_000
    return int(too_large)


if __name__ == "__main__":
    sys.exit(main())

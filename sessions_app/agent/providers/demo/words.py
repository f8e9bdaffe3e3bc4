"""Words the demo model knows: verbs, file types, other languages' basics, and what looks like a path."""

from __future__ import annotations

import difflib
import re


def word_list(text: str) -> list[str]:
    """The words of a text, in order; a list that stays readable."""
    return text.split()


def word_set(text: str) -> set[str]:
    """The same without an order."""
    return set(text.split())


EXTENSIONS: dict[str, str] = {
    "python": "py", "javascript": "js", "typescript": "ts", "markdown": "md", "html": "html", "css": "css", "json": "json",
    "yaml": "yml", "toml": "toml", "csv": "csv", "text": "txt", "txt": "txt", "shell": "sh", "bash": "sh", "rust": "rs",
    "go": "go", "golang": "go", "java": "java", "c": "c", "c++": "cpp", "cpp": "cpp", "ruby": "rb", "php": "php", "sql": "sql",
    "xml": "xml", "log": "log", "image": "png", "svg": "svg", "pdf": "pdf", "kotlin": "kt", "swift": "swift", "py": "py",
    "js": "js", "ts": "ts", "md": "md", "yml": "yml", "node": "js", "perl": "pl", "lua": "lua", "header": "h", "ini": "ini",
}  # fmt: skip

LANGUAGES: dict[str, str] = {
    "py": "Python", "js": "JavaScript", "mjs": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript", "jsx": "JavaScript",
    "md": "Markdown", "html": "HTML", "css": "CSS", "scss": "CSS", "json": "JSON", "yml": "YAML", "yaml": "YAML", "toml": "TOML",
    "csv": "CSV", "txt": "text", "sh": "shell", "bash": "shell", "rs": "Rust", "go": "Go", "java": "Java", "c": "C", "h": "C",
    "cpp": "C++", "hpp": "C++", "rb": "Ruby", "php": "PHP", "sql": "SQL", "xml": "XML", "kt": "Kotlin", "swift": "Swift",
    "vue": "Vue", "svelte": "Svelte", "lua": "Lua", "pl": "Perl", "r": "R", "ini": "INI", "cfg": "INI", "rst": "reStructuredText",
}  # fmt: skip

_KNOWN_ENDINGS = {*EXTENSIONS.values(), *LANGUAGES} | word_set("""
    lock conf env log jpg jpeg gif webp bmp ico gz tar zip bak tsv jsonl ndjson rst tex ipynb db sqlite
    sqlite3 whl jar class o so dll exe bat ps1 cmake mk gradle properties tmpl j2 jinja orig patch diff
    out dat bin mp3 mp4 wav docx xlsx pptx odt woff woff2 ttf map less sass htm mdx proto graphql tf zig
    ex exs erl hs ml clj dart cs fs vb scala m mm asm s f90 jl nix vim el lisp d
""")  # fmt: skip

BARE_NAMES = {
    "readme", "license", "licence", "copying", "changelog", "changes", "makefile", "dockerfile", "procfile", "gemfile", "rakefile",
    "jenkinsfile", "vagrantfile", "notice", "authors", "contributing", "codeowners",
}  # fmt: skip

#: Of these the lower-case word means the file, too; "licence" or "authors" are usually meant as words.
_PLAIN_NAMES = {"readme", "makefile", "dockerfile", "changelog", "gemfile", "jenkinsfile"}

#: Verbs that may begin a request; a text is cut at "and" only in front of one.
VERBS = tuple(
    word_list("""
    show print display list read open view cat find search grep look count create make write generate
    add append prepend insert put replace change substitute swap rename move copy delete remove erase
    run execute start explain describe summarise summarize compare diff convert sort check validate
    verify lint test commit undo revert format tell give save store calculate compute touch mkdir
    duplicate extract reverse pretty-print prettify clean tidy fix refactor install build locate
    document edit update set compile initialise initialize init rerun re-run repeat drop get what what's which
    where who who's when why how is are does do did was were has have turn enable disable mark tick
""")
)

_VOCABULARY = sorted(
    {*VERBS, *EXTENSIONS}
    | word_set("""
    file files folder folders directory directories project repository lines words characters line word
    function functions class classes method methods readme license changelog script program tests test
    failure commit commits branch branches status history largest biggest smallest newest oldest recent
    modified changed duplicate duplicates dependencies requirements version environment variable
    variables import imports heading headings section contents structure tree content first last number
    hello world fibonacci primes fizzbuzz calculator todo todos fixme comments everything this that with
    where which summary overview disk usage size space columns column rows table average difference
    between second third name named called entry random password javascript python template skeleton
    language languages definition used unused codebase repo
""")
)
VOCABULARY = frozenset(_VOCABULARY)
_ORDINARY = word_set("""
    about above after again also although always among another around because before being below best
    better both bring could does doing done down each early else even every from good have having hers
    here high into just keep kind know large later least left less like likely little long made many
    maybe mean more most much must near need never next nice none only onto other over page part past
    perhaps place please point quite rather real really right same seem shall should side simple since
    small some soon still stop such sure take than thank thanks their them then there these they thing
    things think those through time times today together told toward true turn under until upon used
    useful user uses very want week well went were when while whole will wish without work would year
    yesterday your yours what's shoe shop shot text texts code codes data date dates days main mail mine
    move moves note notes node possible print price value values views string strings level levels items
    item total sum max min form forms
""")

#: Words of German, French and Spanish requests; enough for the plain jobs.
FOREIGN: dict[str, str] = {
    # German
    "viel": "much", "wieviel": "how much", "ausgegeben": "spent", "haben": "have", "wir": "we", "gesamt": "total", "summe": "sum", "durchschnitt": "average", "pro": "per",
    "zeige": "show", "zeig": "show", "liste": "list", "auflisten": "list", "dateien": "files", "datei": "file", "ordner": "folder",
    "verzeichnis": "folder", "lies": "read", "lese": "read", "öffne": "open", "lösche": "delete", "entferne": "remove", "erstelle": "create",
    "erzeuge": "create", "schreibe": "write", "schreib": "write", "suche": "search for", "such": "search for", "finde": "find",
    "zähle": "count", "zeilen": "lines", "zeile": "line", "wörter": "words", "zusammen": "", "fasse": "summarise", "erkläre": "explain",
    "erklär": "explain", "starte": "run", "führe": "run", "ausführen": "run", "aus": "", "ersetze": "replace", "durch": "with",
    "umbenennen": "rename", "benenne": "rename", "kopiere": "copy", "verschiebe": "move", "nach": "to", "alle": "all", "diesen": "this",
    "dieses": "this", "diese": "this", "dieser": "this", "der": "the", "die": "the", "das": "the", "den": "the", "dem": "the",
    "mir": "me", "bitte": "", "und": "and", "mit": "with", "ein": "a", "eine": "a", "einen": "a", "hallo": "hello", "wie": "how",
    "viele": "many", "gibt": "", "es": "", "hier": "here", "welche": "what", "was": "what", "kannst": "can", "tun": "do",
    "projekt": "project", "inhalt": "content", "größten": "largest", "grössten": "largest", "letzten": "last", "letzte": "last",
    "ersten": "first", "wo": "where", "wird": "is", "ist": "is", "im": "in the", "sind": "are", "namens": "named", "dann": "then",
    "danach": "then", "ordners": "folder", "projekts": "project", "tests": "tests", "ausgabe": "output", "inhaltsverzeichnis": "table of contents",
    "anzeigen": "show", "zeigen": "show", "lesen": "read", "öffnen": "open", "löschen": "delete", "erstellen": "create", "schreiben": "write",
    "suchen": "search for", "finden": "find", "zählen": "count", "erklären": "explain", "ersetzen": "replace", "zusammenfassen": "summarise",
    "gib": "give", "nenne": "list", "nenn": "list", "sag": "tell", "sage": "tell", "kopieren": "copy", "verschieben": "move", "laufen": "run", "kapitel": "chapter", "roman": "novel", "hat": "has", "wer": "who", "kunden": "customers", "kunde": "customer",
    "bestellungen": "orders", "bestellung": "order", "produkte": "products", "produkt": "product", "preis": "price", "preise": "prices", "stadt": "city", "offene": "open", "bezahlt": "paid",
    "notizen": "notes", "notiz": "note", "seite": "page", "seiten": "pages", "funktionen": "functions", "funktion": "function", "fehler": "errors", "teste": "test", "vergleiche": "compare",
    "sortiere": "sort", "füge": "add", "hinzu": "", "ändere": "change", "auf": "to", "von": "of", "aus dem": "from the", "kleinste": "smallest", "größte": "largest", "grösste": "largest", "längste": "longest",
    "kürzeste": "shortest", "neueste": "newest", "älteste": "oldest", "welcher": "which", "welches": "which", "zwischen": "between", "über": "over", "unter": "under", "mehr": "more", "weniger": "less", "als": "than",
    "bücher": "books", "schüler": "students", "mitglieder": "members", "mitglied": "member", "rechnungen": "invoices", "rechnung": "invoice", "geschichte": "story", "text": "text", "nur": "only", "jede": "each", "jeden": "each", "jedes": "each",
    # French
    "montre": "show", "montre-moi": "show me", "affiche": "show", "fichiers": "files", "fichier": "file", "dossier": "folder",
    "répertoire": "folder", "lis": "read", "lire": "read", "ouvre": "open", "supprime": "delete", "efface": "delete", "crée": "create",
    "créer": "create", "écris": "write", "cherche": "search for", "trouve": "find", "compte": "count", "lignes": "lines", "ligne": "line",
    "mots": "words", "résume": "summarise", "explique": "explain", "lance": "run", "exécute": "run", "remplace": "replace", "par": "with",
    "renomme": "rename", "copie": "copy", "déplace": "move", "vers": "to", "tous": "all", "toutes": "all", "les": "the", "le": "the",
    "la": "the", "ce": "this", "cette": "this", "ces": "these", "et": "and", "avec": "with", "un": "a", "une": "a", "bonjour": "hello",
    "combien": "how many", "quels": "what", "quelles": "what", "dans": "in", "projet": "project", "contenu": "content", "puis": "then",
    "donne": "give", "donne-moi": "give me", "dis-moi": "tell me", "liste-moi": "list", "chapitre": "chapter", "chapitres": "chapters", "qui": "who", "clients": "customers", "client": "customer", "commandes": "orders", "commande": "order", "produits": "products", "produit": "product", "prix": "price",
    "ville": "city", "notes": "notes", "pages": "pages", "fonctions": "functions", "fonction": "function", "erreurs": "errors", "compare": "compare", "trie": "sort", "ajoute": "add", "change": "change", "entre": "between", "plus": "more",
    "moins": "less", "que": "than", "livres": "books", "élèves": "students", "membres": "members", "factures": "invoices", "quel": "which", "quelle": "which", "de": "of", "des": "of the", "au": "to the", "aux": "to the", "moi": "me", "seulement": "only",
    "ici": "here", "où": "where", "est": "is", "sont": "are", "du": "of the", "nommé": "named",
    # Spanish
    "muestra": "show", "muéstrame": "show me", "lista": "list", "archivos": "files", "archivo": "file", "ficheros": "files",
    "fichero": "file", "carpeta": "folder", "directorio": "folder", "lee": "read", "abre": "open", "borra": "delete", "elimina": "delete",
    "crea": "create", "escribe": "write", "busca": "search for", "encuentra": "find", "cuenta": "count", "líneas": "lines",
    "palabras": "words", "resume": "summarise", "explica": "explain", "ejecuta": "run", "reemplaza": "replace", "por": "with",
    "renombra": "rename", "copia": "copy", "mueve": "move", "todos": "all", "todas": "all", "los": "the", "las": "the", "el": "the",
    "este": "this", "esta": "this", "con": "with", "una": "a", "hola": "hello", "cuántas": "how many", "cuántos": "how many",
    "qué": "what", "proyecto": "project", "contenido": "content", "luego": "then", "aquí": "here", "dónde": "where", "está": "is",
    "dame": "give me", "dime": "tell me", "capítulo": "chapter", "capítulos": "chapters", "novela": "novel", "quién": "who", "clientes": "customers", "cliente": "customer", "pedidos": "orders", "pedido": "order", "productos": "products", "producto": "product", "precio": "price",
    "ciudad": "city", "notas": "notes", "páginas": "pages", "funciones": "functions", "función": "function", "errores": "errors", "ordena": "sort", "añade": "add", "agrega": "add", "cambia": "change", "más": "more", "menos": "less",
    "libros": "books", "alumnos": "students", "miembros": "members", "facturas": "invoices", "cuál": "which", "cuáles": "which", "son": "are", "solo": "only", "tiene": "has", "tienen": "have", "cuánto": "how much", "compara": "compare",
    "en": "in", "del": "of the", "al": "to the", "y": "and", "hay": "",
}  # fmt: skip
#: Only these tell that a text is not English ("resume", "die" and "was" are English words too).
_FOREIGN_SIGNS = set(FOREIGN) - word_set("""
    resume die was den compte liste tests par lance la le en de es un con est el ce hay son y por du al
    todos todas que des plus notes pages compare change client clients prix moi au aux hat text nur roman entre solo auf commande commandes produit produits
""") | {
    "liste", "crée"
}  # fmt: skip

_INFINITIVES = "run|show|list|read|open|delete|create|write|search for|find|count|explain|rename|copy|move|summarise|replace"
_NOT_PATHS = re.compile(
    r"(?:and/or|yes/no|true/false|i/o|n/a|w/o?|\d+/\d+(?:/\d+)?|(?-i:[A-Z]+(?:/[A-Z]+)+)|e\.g|i\.e|etc|vs|node\.js|a\.k\.a)",
    re.I,
)


def looks_like_path(token: str) -> bool:
    """Whether a word without spaces reads as a file or folder name."""
    if not token or " " in token or "://" in token or _NOT_PATHS.fullmatch(token):
        return False
    if token.startswith("@") and len(token) > 1:
        return bool(re.fullmatch(r"@[\w./~-]+", token)) and "/" not in token[1:2]
    if token.lower() in BARE_NAMES:
        return token.isupper() or token.lower() in _PLAIN_NAMES
    if not re.fullmatch(r"[\w.~/+@-]+", token) or not re.search(r"\w", token):
        return False
    if "/" in token:
        return True
    if re.fullmatch(r"\.[A-Za-z_][\w.-]*", token):
        return True
    stem, dot, ending = token.rpartition(".")
    return bool(dot and stem) and ending.lower() in _KNOWN_ENDINGS and not stem.replace(".", "").isdigit()


def is_foreign(text: str) -> str:
    """German, French or Spanish words found in `text`, space-joined; empty when it reads as English."""
    return " ".join(
        word for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower()) if word in _FOREIGN_SIGNS
    )


#: Whole turns of phrase that are not put together from single words.
_TURNS: tuple[tuple[str, str], ...] = (
    (r"\b(?:en|dans) une (?:seule )?phrase\b|\bin einem satz\b|\ben una (?:sola )?frase\b", "in one sentence"),
    (r"\b(?:en|in) (?:trois|drei|tres|3) (?:points|puces|punkten|stichpunkten|sätzen|puntos|phrases|frases)\b", "in three bullet points"),
    (r"\b(?:en|in) (?:cinq|fünf|cinco|5) (?:points|puces|punkten|stichpunkten|sätzen|puntos|phrases|frases)\b", "in five bullet points"),
    (r"\b(?:en|in) (?:deux|zwei|dos|2) (?:points|puces|punkten|stichpunkten|sätzen|puntos|phrases|frases)\b", "in two sentences"),
    (r"\bfasse?n? (?:sie )?(.+?) zusammen\b", r"summarise \1"),
    (r"\bführe? (.+?) aus\b", r"run \1"),
    (r"\b(?:qu'est-ce que c'est|qu'est ce que|c'est quoi|qu'est-ce qu'il y a)\b", "what is"),
    (r"\bworum geht es (?:hier|in diesem ordner|im projekt)\b|\bde quoi s'agit-il\b|\bde qué (?:va|trata) (?:esto|este proyecto)\b", "what is this project about"),
    (r"\b(?:a-t-il|y a-t-il|y a t il|il y a)\b", "are there"),
    (r"\bplus (?:grand|gros|long)(?:e|s|es)?\b", "largest"), (r"\bplus (?:petit|court)(?:e|s|es)?\b", "smallest"), (r"\bmás (?:grande|largo|larga)s?\b", "largest"),
    (r"\bmás (?:caro|cara)s?\b|\bplus ch(?:er|ère)s?\b|\bteuerste[nrs]?\b", "most expensive"), (r"\bmoins ch(?:er|ère)s?\b|\bmás barat[oa]s?\b|\b(?:billigste|günstigste)[nrs]?\b", "cheapest"),
    (r"\b(?:ohne|sans|sin) (?=\w)", "without "), (r"\bhat (?:noch )?nicht bezahlt\b|\bn'a pas (?:encore )?payé\b|\bno ha pagado\b", "has not paid"), (r"\bhaben (?:noch )?nicht bezahlt\b|\bn'ont pas (?:encore )?payé\b|\bno han pagado\b", "have not paid"),
)  # fmt: skip


def in_english_turns(text: str) -> str:
    """Fixed phrases of other languages in English; everything else stays."""
    for pattern, english in _TURNS:
        text = re.sub(pattern, english, text, flags=re.I)
    return text


def translate(text: str) -> str:
    """Word by word, as far as the words are known."""
    text = re.sub(r"\b(?:l'|d'|qu')", "the ", text, flags=re.I)
    text = re.sub(
        r"\b(?:kannst du|könntest du|können sie|könnten sie|peux-tu|pouvez-vous|puedes|podrías)\b",
        "can you",
        text,
        flags=re.I,
    )
    translated = re.sub(
        r"[^\W\d_]+(?:-[^\W\d_]+)*(?![\w‹›])",
        lambda m: FOREIGN.get(m.group().lower(), m.group()),
        text,
        flags=re.I,
    )
    translated = re.sub(r"\s+", " ", translated).strip()
    # German puts the verb last: "can you the tests run".
    last = re.match(
        rf"((?:can you )?)(?:me )?((?:the|a|all|this|in|of|‹).*?) ({_INFINITIVES})([?.!]*)$", translated, re.I
    )
    return f"{last.group(1)}{last.group(3)} {last.group(2)}{last.group(4)}" if last else translated


def correct(text: str) -> str:
    """Words that nearly are known ones become them; names, short and ordinary words stay."""

    def nearest(match: re.Match[str]) -> str:
        word = match.group()
        lower = word.lower()
        if word != lower and not word.istitle():
            return word
        if lower in _ORDINARY or lower in _VOCABULARY or lower.endswith("est"):
            return word
        if match.start() > 0 and len(lower) < 5:
            return word
        # Two letters in the wrong order count for much in a short word; the first word is nearly always a verb.
        close = difflib.get_close_matches(
            lower, _VOCABULARY, n=1, cutoff=0.72 if match.start() == 0 else 0.78
        )
        return close[0] if close and abs(len(close[0]) - len(lower)) <= 2 else word

    return re.sub(r"(?<![‹\w.-])[A-Za-z]{4,}(?![\w›.-]\w)", nearest, text)

"""What the words of a question about a table may stand for: kinds of columns, comparisons, opposites, and plain filling."""

from __future__ import annotations

from sessions_app.agent.providers.demo.keywords import stem
from sessions_app.agent.providers.demo.words import word_set

#: Kinds of columns people speak of without their heading: (words of headings, whether the cells are numbers).
ROLES: dict[str, tuple[str, ...]] = {
    "money": ("amount", "total", "price", "cost", "sum", "value", "fee", "sales", "revenue", "salary", "wage", "income", "betrag", "preis", "montant", "importe", "budget", "paid", "spent", "rent", "payment", "balance", "eur", "euro", "usd"),
    "age": ("age", "alter"),
    "time": ("date", "day", "since", "created", "born", "birthday", "due", "sent", "year", "joined", "start", "deadline", "published", "updated"),
    "length": ("length", "duration", "pages", "words", "minutes", "hours", "km", "distance"),
    "weight": ("weight", "kg", "mass"),
    "height": ("height", "cm", "elevation"),
    "size": ("size", "area", "population", "quantity", "qty", "amount", "count", "stock", "number", "mb", "bytes"),
    "quality": ("score", "grade", "rating", "points", "mark", "result", "stars", "percent"),
    "favour": ("sold", "votes", "views", "visits", "sales", "downloads", "likes", "clicks", "rating", "orders"),
    "heat": ("temperature", "temp", "celsius"),
    "since": ("joined", "since", "asked", "started", "start", "registered", "signed", "hired", "entered", "date"),
    "stock": ("stock", "quantity", "qty", "inventory", "available", "copies"),
    "speed": ("ms", "seconds", "duration", "elapsed", "runtime", "latency", "time_ms"),
    "any": (),
}  # fmt: skip

#: An adjective: the role it speaks of, and whether its superlative is the high end.
ADJECTIVES: dict[str, tuple[str, bool]] = {
    "expensive": ("money", True), "dear": ("money", True), "costly": ("money", True), "cheap": ("money", False), "pricey": ("money", True),
    "old": ("age", True), "young": ("age", False), "new": ("time", True), "recent": ("time", True), "late": ("time", True), "early": ("time", False),
    "long": ("length", True), "short": ("length", False), "heavy": ("weight", True), "light": ("weight", False), "tall": ("height", True),
    "big": ("size", True), "large": ("size", True), "small": ("size", False), "high": ("any", True), "low": ("any", False),
    "slow": ("speed", True), "fast": ("speed", False), "quick": ("speed", False), "good": ("quality", True), "bad": ("quality", False), "popular": ("favour", True), "warm": ("heat", True), "hot": ("heat", True),
    "cold": ("heat", False), "great": ("any", True), "top": ("any", True), "much": ("any", True), "little": ("any", False),
}  # fmt: skip

_IRREGULAR = {
    "best": "good", "better": "good", "worst": "bad", "worse": "bad", "latest": "late", "later": "late", "most": "much", "more": "much", "least": "little",
    "less": "little", "fewest": "little", "fewer": "little", "priciest": "pricey", "maximum": "high", "max": "high", "minimum": "low", "min": "low",
    "highest": "high", "lowest": "low", "biggest": "big", "bigger": "big", "hottest": "hot", "hotter": "hot", "heaviest": "heavy", "heavier": "heavy",
    "costliest": "costly", "earliest": "early", "earlier": "early", "oldest": "old", "older": "old", "newest": "new", "newer": "new",
    "largest": "large", "larger": "large", "cheapest": "cheap", "cheaper": "cheap", "simplest": "simple", "dearest": "dear", "dearer": "dear",
}  # fmt: skip

#: What is said of a row for the opposite of a yes, by the word of the heading.
OPPOSITES: dict[str, str] = {
    "dead": "alive", "inactive": "active", "absent": "present", "closed": "open", "disabled": "enabled", "unavailable": "available",
    "outstanding": "paid", "overdue": "paid", "owing": "paid", "owe": "paid", "owes": "paid", "undone": "done", "unfinished": "finished",
    "incomplete": "complete", "private": "public", "failed": "passed", "unread": "read", "vegetarian": "meat",
}  # fmt: skip

#: Other words for a heading of yes and no.
SAME: dict[str, str] = {
    "living": "alive",
    "working": "active",
    "finished": "done",
    "completed": "done",
    "settled": "paid",
    "sent": "shipped",
    "delivered": "shipped",
}

#: Verbs and other words by which people speak of money without naming a column.
MONEY_WORDS = word_set("spend spent spending cost costs costing pay pays paid earn earned earning earnings money worth revenue price prices priced turnover expense expenses ausgegeben dépensé gastado income takings charged charge charges sales euros euro dollars bill")  # fmt: skip
#: Verbs that only say that a row came about; they go with a date.
HAPPENED = word_set("born placed made came come happened recorded received registered joined created issued started began begun took place ordered bought sold sent arrived arriving published entered signed added booked due dated written submitted went took visited occurred opened finished ended played taken visits coming upcoming send sends times time")  # fmt: skip
#: They go with a column of yes and no, or one that may be empty.
AGREED = word_set("subscriber subscribers subscription subscriptions anything something ever subscribed subscribe subscribes opted agreed agree flagged get gets receive receives want wants provided given gave left filled entered yes true already been")  # fmt: skip
#: In a table of people they mean its rows, whatever the table is called.
PEOPLE = word_set("child kid pupil student person member employee colleague guest user patient player worker teacher friend participant applicant author guy woman man")  # fmt: skip
#: They carry no condition.
FILLING = word_set("""
    a an everything own owns moment currently available anywhere avons avons-nous haben tenemos using running owned make makes do doing buy buys overview play plays times got the of in on at to for and or by with is are was were be been being do does did have has had having i me my mine we us our you your he him his she her hers
    it its they them their theirs this that there here what what's which who who's whose whom how please show list give get find print display tell see
    name names named called call table csv json tsv file data dataset spreadsheet row rows record records entry entries line item items thing things value values
    column columns field fields one ones all every everyone everybody anyone anybody someone each any some both people person persons folks guys those these just only
    also as from into can could would should will shall want need like know look up so far yet still currently now right altogether overall total whole
    complete entire full exactly actually really maybe me. let lets us let's filter select return calculate compute work answer question details detail info
    information say says said if belong belongs belonging live lives lived based stand stands standing set marked listed found exist exists
    contain contains containing includes include including via per if then when where result results number figure figures many much amount kind kinds type types
    sort sorts different various respective corresponding associated matching match go goes going got gets take takes our please thanks thank you
    sorted order ordered grouped group ranking rank ranked them it's there's i'd i'm they're don't current time pretty quick quickly
    short brief nice nicely clear manage manages managed sell sells already ever thing hi hello there score scores rate growing grow grows spend overview summary worth via across among within  about regarding concerning according wrote written think
    der die das den dem ein eine und oder für mit von im ist sind hat haben zeige alle welche wer wie viele
""") - word_set("not no never without except")  # fmt: skip
#: Words that change the meaning of a question. One that is left over means that the question was not understood.
MEANING = word_set("""
    not no nor never without except besides unless neither nobody none nothing but more less most least fewer fewest over under above below between than before after
    since until till during first last next second third half double twice same both either other others another often rarely again ago today tomorrow yesterday
    week month year average mean median sum maximum minimum percent percentage share ratio difference increase decrease change compare why instead older newer
    left remaining balance kitty profit loss net lost gained develop developed trend
    higher lower bigger smaller larger cheaper or top bottom duplicate duplicates unique distinct consecutive missing empty blank
""")  # fmt: skip


def singular(word: str) -> str:
    """ "cities" is city, "classes" class, "orders" order."""
    lower = word.lower()
    if lower in {"people", "children"}:
        return {"people": "person", "children": "child"}[lower]
    if len(lower) > 4 and lower.endswith("ies"):
        return lower[:-3] + "y"
    if len(lower) > 4 and lower.endswith(("sses", "xes", "ches", "shes")):
        return lower[:-2]
    if len(lower) > 3 and lower.endswith("s") and not lower.endswith(("ss", "us", "is")):
        return lower[:-1]
    return lower


def alike(one: str, two: str) -> bool:
    """Whether two words are forms of one: "cities" and "city", "shipped" and "shipping"."""
    a, b = one.lower().replace("-", ""), two.lower().replace("-", "")
    if a == b or singular(a) == singular(b):
        return True
    if min(len(a), len(b)) < 4:
        return False
    return stem(a) == stem(b) or (len(a) > 5 and len(b) > 5 and stem(stem(a)) == stem(stem(b)))


def degree(word: str) -> tuple[str, str]:
    """(adjective, "superlative" or "comparative" or "") of a word; ("", "") for no adjective known here."""
    lower = word.lower()
    if lower in _IRREGULAR:
        most = lower.endswith("st") or lower in {"maximum", "max", "minimum", "min"}
        return _IRREGULAR[lower], "superlative" if most else "comparative"
    if lower in ADJECTIVES:
        return lower, ""
    for ending, kind in (("est", "superlative"), ("er", "comparative")):
        if lower.endswith(ending):
            base = lower[: -len(ending)]
            for form in (base, base + "e", base[:-1] if base[-1:] == base[-2:-1] else base, base[:-1] + "y"):
                if form in ADJECTIVES:
                    return form, kind
    return "", ""

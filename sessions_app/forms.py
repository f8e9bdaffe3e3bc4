"""The shape of what people send: each form is checked here once, its meaning in the services."""

from __future__ import annotations

import base64
import io
import re
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.core.files.base import File
from django.utils.translation import gettext_lazy as _
from PIL import Image, UnidentifiedImageError

from sessions_app.models import QueuedMessage, Workspace

IMAGE_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
HALF_CHARACTERS = re.compile("[\ud800-\udfff]")
MOST_IMAGES = 10
# Above this many pixels on a side providers refuse a request with many images, for good (B39).
LONGEST_SIDE = 2000
LARGEST_IMAGE = 12 * 1024 * 1024
SUGGESTED_JOBS = (
    ("folder", _("Summarise this folder"), _("Lists, reads the main files, answers in half a page")),
    ("search", _("Find every TODO and group them by file"), _("Searches, then writes a table")),
    (
        "shell",
        _("Run the tests and explain the first failure"),
        _("Runs a command in your folder, reads its output"),
    ),
    ("write", _("Add a CHANGELOG entry for the last commit"), _("Changes one file and shows the diff")),
)


class WordsField(forms.CharField):
    """Text as it was written: not stripped, lines end in \\n, lone surrogates become U+FFFD."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)
        # A NUL is told by the service, with what to do about it.
        self.validators = [
            it for it in self.validators if type(it).__name__ != "ProhibitNullCharactersValidator"
        ]

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        return HALF_CHARACTERS.sub("\ufffd", lines)


class ImagesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ImagesField(forms.FileField):
    """Several images of one input; cleans to a list of image blocks ({"type": "image", "data", "mimeType"})."""

    widget = ImagesInput

    def clean(self, data: Any, initial: Any = None) -> list[dict[str, str]]:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        if len(files) > MOST_IMAGES:
            raise ValidationError(_("At most %(most)s images in one message.") % {"most": MOST_IMAGES})
        return [image_block(file) for file in files]


def image_block(file: File[bytes]) -> dict[str, str]:
    """The file as an image block, made smaller when a provider would refuse it. Raises ValidationError."""
    name = file.name or _("The image")
    if (file.size or 0) > LARGEST_IMAGE:
        raise ValidationError(_("%(name)s is larger than 12 MB.") % {"name": name})
    content = file.read()
    try:
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            kind = IMAGE_TYPES.get(image.format or "")
            if kind is None:
                raise ValidationError(_("%(name)s is not a PNG, JPEG, GIF or WebP image.") % {"name": name})
            if settings.IMAGES_RESIZE and max(image.size) > LONGEST_SIDE:
                smaller = io.BytesIO()
                image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
                image.save(smaller, format=image.format)
                content = smaller.getvalue()
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValidationError(
            _("%(name)s is empty or not an image that can be read.") % {"name": name}
        ) from error
    return {"type": "image", "data": base64.b64encode(content).decode(), "mimeType": kind}


class PromptForm(forms.Form):
    """What is said to the agent. `key` makes a repeated POST harmless."""

    text = WordsField(required=False)
    mode = forms.ChoiceField(choices=QueuedMessage.Mode.choices, required=False)
    key = forms.CharField(required=False, max_length=80)
    images = ImagesField(required=False)

    def clean_mode(self) -> str:
        return self.cleaned_data["mode"] or QueuedMessage.Mode.STEER


class FilesField(forms.FileField):
    """Several files of one input; cleans to a list of them."""

    widget = ImagesInput

    def clean(self, data: Any, initial: Any = None) -> list[File[bytes]]:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        if not files:
            raise ValidationError(_("There is no file to keep."))
        return list(files)


class FilesForm(forms.Form):
    """Files for a folder of the workspace."""

    folder = forms.CharField(required=False, max_length=1000)
    uploads = FilesField()


class BranchForm(forms.Form):
    """Other words for one's own message."""

    text = WordsField(required=False)
    key = forms.CharField(required=False, max_length=80)


class QueuedForm(forms.Form):
    """A queued message: new text, or where it goes."""

    text = WordsField(required=False)
    action = forms.ChoiceField(
        choices=[("edit", ""), ("remove", ""), ("hold", ""), ("up", ""), ("down", "")], required=False
    )

    def clean_action(self) -> str:
        return self.cleaned_data["action"] or "edit"


class GoForm(forms.Form):
    """Where to stand: `tip` means the newest entry below, `ask` that a question may come first (03 BS-02), `stop`
    that what the agent does is stopped before."""

    tip = forms.BooleanField(required=False)
    ask = forms.BooleanField(required=False)
    stop = forms.BooleanField(required=False)
    summarise = forms.ChoiceField(choices=[("none", ""), ("summarise", ""), ("custom", "")], required=False)
    instructions = forms.CharField(required=False, max_length=10_000)
    key = forms.CharField(required=False, max_length=80)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("summarise") == "custom" and not data.get("instructions"):
            self.add_error("instructions", _("Say what the summary should keep in view."))
        return data


class CompactForm(forms.Form):
    """What a compaction should keep in view."""

    instructions = forms.CharField(required=False, max_length=10_000)
    key = forms.CharField(required=False, max_length=80)


class ForkForm(forms.Form):
    """The message to fork before; without, the newest of the user's."""

    seq = forms.IntegerField(required=False, min_value=1, max_value=2_147_483_647)


class NameForm(forms.Form):
    name = forms.CharField(required=False, max_length=300)


class LabelForm(forms.Form):
    label = forms.CharField(required=False, max_length=200)


class ModelForm(forms.Form):
    """`model` is a ModelChoice's value ("provider/model"); cleans to provider and model."""

    model = forms.CharField(max_length=300)
    thinking_level = forms.CharField(max_length=10, required=False)

    def clean_model(self) -> tuple[str, str]:
        provider, slash, model = self.cleaned_data["model"].partition("/")
        if not (provider and slash and model):
            raise ValidationError(_("Choose a model from the list."))
        return provider, model


class FolderForm(forms.Form):
    """One of the folders of a person."""

    workspace = forms.ModelChoiceField(Workspace.objects.none())

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        narrow_to(self.fields["workspace"], user)


class ImportForm(FolderForm):
    """`key`: what the page asks by how far the import has come."""

    key = forms.RegexField(r"\A[0-9a-f]{8,64}\Z", required=False)
    file = forms.FileField(max_length=300)


class BeginForm(PromptForm):
    """A first message together with where it is said and to which model."""

    workspace = forms.ModelChoiceField(Workspace.objects.none())
    model = forms.CharField(max_length=300, required=False)
    job = forms.CharField(max_length=20, required=False)

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        narrow_to(self.fields["workspace"], user)

    def first_words(self) -> str:
        """The suggested job that was pressed, else what was written."""
        return suggested_job(self.cleaned_data["job"]) or str(self.cleaned_data["text"])


def suggested_job(number: str) -> str:
    """The words of a suggested job ("1" is the first); empty for anything else."""
    index = int(number) if number.isdecimal() and len(number) < 4 else 0
    return str(SUGGESTED_JOBS[index - 1][1]) if 1 <= index <= len(SUGGESTED_JOBS) else ""


def narrow_to(field: forms.Field, user: Any) -> None:
    """Only workspaces in which the user may start sessions can be chosen."""
    assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - for the type checker
    field.queryset = Workspace.objects.may_edit(user).order_by("name")
    field.error_messages["required"] = field.error_messages["invalid_choice"] = _(
        "Choose one of your folders."
    )


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": _("Name and password don’t match."),
        "inactive": _("This account is switched off. Ask the operator of the server."),
    }


class WorkspaceForm(forms.Form):
    path = forms.CharField(max_length=4096, error_messages={"required": _("Name a folder.")})
    name = forms.CharField(max_length=120, required=False)
    create = forms.BooleanField(required=False)


class KeyForm(forms.Form):
    """One provider's key and address. `secret` left empty keeps the stored one."""

    provider = forms.ChoiceField(choices=[("anthropic", ""), ("openai-compatible", "")])
    secret = forms.CharField(required=False, max_length=500)
    base_url = forms.URLField(required=False, max_length=500, assume_scheme="https")
    models_offered = forms.CharField(required=False, max_length=20_000)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if (
            data.get("provider") == "openai-compatible"
            and "base_url" not in self.errors
            and not data.get("base_url")
        ):
            self.add_error("base_url", _("Name the server's address, such as http://localhost:11434/v1."))
        return data


class WelcomeForm(WorkspaceForm):
    """The first run: a folder, a model, a first job. Only the tour needs no folder."""

    path = forms.CharField(max_length=4096, required=False)
    provider = forms.ChoiceField(choices=[("demo", ""), ("anthropic", ""), ("openai-compatible", "")])
    secret = forms.CharField(required=False, max_length=500)
    base_url = forms.URLField(required=False, max_length=500, assume_scheme="https")
    models_offered = forms.CharField(required=False, max_length=20_000)
    job = forms.CharField(required=False, max_length=20)
    text = WordsField(required=False)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if "path" not in self.errors and not data.get("path") and data.get("job") != "tour":
            self.add_error("path", WorkspaceForm.base_fields["path"].error_messages["required"])
        if data.get("provider") != "openai-compatible":
            # Those fields are out of sight; what was typed before another provider was chosen does not count.
            data |= {"base_url": "", "models_offered": ""}
            self.errors.pop("base_url", None)
        if data.get("provider") == "anthropic" and not data.get("secret"):
            self.add_error("secret", _("Paste a key, or begin with the demo model."))
        if data.get("provider") == "openai-compatible":
            if "base_url" not in self.errors and not data.get("base_url"):
                self.add_error("base_url", _("Name the server's address, such as http://localhost:11434/v1."))
            if not (data.get("models_offered") or "").split():
                self.add_error("models_offered", _("Name at least one model of that server."))
        if data.get("job") == "own" and not (data.get("text") or "").strip():
            self.add_error("text", _("Write what should be done."))
        return data

    def first_words(self) -> str:
        """The prompt of the chosen job; empty for the tour."""
        job = self.cleaned_data["job"]
        return str(self.cleaned_data["text"]) if job == "own" else suggested_job(job)

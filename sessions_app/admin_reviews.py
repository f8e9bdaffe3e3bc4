"""Reviews in the Django admin: the list by risk, one review with its range beside the summary, the dashboard, the export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.csrf import csrf_protect

from sessions_app import review_figures
from sessions_app.fragments import review_charts, review_list, review_parts, wording
from sessions_app.models import CompactionReview, ReviewEvent, ReviewQuerySet
from sessions_app.services import judging, reviews
from sessions_app.services.errors import ServiceError
from sessions_app.views import review_acts, review_page

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin

_APP = "sessions_app"


class CoverageFilter(admin.SimpleListFilter):
    title = "coverage"
    parameter_name = "coverage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("low", "below 50"),
            ("look", "50 to 70"),
            ("good", "70 and more"),
            ("own", "words of people missing"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "low":
                return queryset.filter(coverage__lt=50)
            case "look":
                return queryset.filter(coverage__gte=50, coverage__lt=70)
            case "good":
                return queryset.filter(coverage__gte=70)
            case "own":
                return queryset.filter(own_missing__gt=0)
        return queryset


@admin.register(CompactionReview)
class CompactionReviewAdmin(ModelAdmin):
    """Viewing, reviewing and editing are permissions of their own; nobody but a superuser sees sessions of others."""

    list_display = [
        "risk_words",
        "session_name",
        "branch",
        "state_words",
        "reason",
        "outcome",
        "reduction",
        "coverage_words",
        "missing_words",
        "cost_words",
        "created_at",
    ]
    list_display_links = ["session_name"]
    list_filter = ["state", "outcome", "reason", "kind", CoverageFilter, "session__workspace"]
    search_fields = ["session__name", "session__title", "session__workspace__name"]
    search_help_text = "Session or workspace"
    date_hierarchy = "created_at"
    ordering = ["-risk", "-id"]
    list_per_page = 50
    list_select_related = ["session__workspace", "reviewed_by", "entry"]
    show_full_result_count = False
    actions = ["approve_chosen"]
    change_list_template = "admin/sessions_app/compactionreview/list.html"

    # --- who may ---

    def get_queryset(self, request: HttpRequest) -> ReviewQuerySet:
        every = CompactionReview.objects.order_by(*self.ordering)
        if request.user.is_superuser:
            return every
        return every.filter(pk__in=CompactionReview.objects.visible_to(request.user))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_review_permission(request) or self.has_edit_permission(request)

    def has_review_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(f"{_APP}.review_compactionreview"))

    def has_edit_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(f"{_APP}.edit_compactionreview"))

    # --- the list ---

    @admin.display(description="risk", ordering="risk")
    def risk_words(self, review: CompactionReview) -> SafeString:
        row = review_list.row_of(review)
        return format_html(
            '<span class="risk risk--{}"><span aria-hidden="true"><i></i><i></i><i></i></span>{}</span>',
            row.level,
            row.level_name,
        )

    @admin.display(description="session", ordering="session__title")
    def session_name(self, review: CompactionReview) -> SafeString:
        return format_html("<bdi>{}</bdi> <small>{}</small>", review.session, review.session.workspace.name)

    @admin.display(description="branch")
    def branch(self, review: CompactionReview) -> str:
        if review.entry is None:
            return "—"
        return f"at entry {review.entry.seq}"

    @admin.display(description="state", ordering="state")
    def state_words(self, review: CompactionReview) -> str:
        return review_list.row_of(review).state

    @admin.display(description="reduction")
    def reduction(self, review: CompactionReview) -> str:
        if review.tokens_before is None:
            return "—"
        after = "—" if review.tokens_after is None else wording.tokens(review.tokens_after)
        return f"{wording.tokens(review.tokens_before)} → {after} ({review_list.row_of(review).saved})"

    @admin.display(description="coverage", ordering="coverage")
    def coverage_words(self, review: CompactionReview) -> SafeString | str:
        row = review_list.row_of(review)
        if row.coverage is None:
            return "—"
        return format_html(
            '<span class="nowrap"><svg class="tiny" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
            '<rect class="{}" width="{}" height="8"/></svg>{}</span>',
            row.tone,
            row.coverage,
            row.coverage,
        )

    @admin.display(description="missing", ordering="missing")
    def missing_words(self, review: CompactionReview) -> str:
        if review.missing is None:
            return "—"
        return (
            f"{review.missing}, {review.own_missing} of people" if review.own_missing else str(review.missing)
        )

    @admin.display(description="cost", ordering="cost")
    def cost_words(self, review: CompactionReview) -> str:
        return wording.money(review.cost)

    @admin.action(description="Approve the marked compactions", permissions=["review"])
    def approve_chosen(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        count = judging.approve_all(reviews=queryset, actor=request.user)
        self.message_user(request, f"{wording.plural(count, 'compaction')} approved.", messages.SUCCESS)

    # --- one review ---

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        review = self._found(request, object_id)
        facts = {
            **self.admin_site.each_context(request),
            **review_page.facts(
                request,
                review,
                acts=reverse("admin:sessions_app_compactionreview_change", args=[review.pk]),
                may_edit=self.has_edit_permission(request),
                may_review=self.has_review_permission(request),
            ),
            "title": f"{review.session}",
            "opts": self.opts,
            "original": review,
            "page": "reviews",
            "next_address": self._next_address(request, review),
        }
        if "HX-Request" in request.headers:
            return render(request, "sessions_app/_review_columns.html", facts)
        return TemplateResponse(request, "admin/sessions_app/compactionreview/detail.html", facts)

    def _next_address(self, request: HttpRequest, review: CompactionReview) -> str:
        """The riskiest other one that waits; empty where none does."""
        following = self.get_queryset(request).waiting().exclude(pk=review.pk).first()
        return reverse("admin:sessions_app_compactionreview_change", args=[following.pk]) if following else ""

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        review = self._found(request, object_id)
        facts = {
            **self.admin_site.each_context(request),
            "title": f"Who did what: {review.session}",
            "opts": self.opts,
            "original": review,
            "events": ReviewEvent.objects.filter(review=review).select_related("actor", "version"),
        }
        return TemplateResponse(request, "admin/sessions_app/compactionreview/history.html", facts)

    def _found(self, request: HttpRequest, object_id: str) -> CompactionReview:
        if not self.has_view_permission(request):
            raise PermissionDenied
        if not object_id.isdecimal() or len(object_id) > 15:
            raise Http404
        rows = self.get_queryset(request).select_related(
            "entry__parent", "attempt__leaf", "session__leaf", "session__workspace"
        )
        found: CompactionReview = get_object_or_404(rows, pk=int(object_id))
        return found

    @method_decorator(csrf_protect)
    def act_view(self, request: HttpRequest, object_id: str, act: str) -> HttpResponse:
        """What is done from the detail page; refused acts are told on it."""
        review = self._found(request, object_id)
        if request.method != "POST" or act not in {*review_acts.ACTS, "coverage"}:
            raise Http404
        if act in review_acts.REVIEWING or act == "comment":
            allowed = self.has_review_permission(request) or (
                act == "comment" and self.has_edit_permission(request)
            )
        else:
            allowed = self.has_edit_permission(request)
        if not allowed:
            raise PermissionDenied
        if act == "coverage":
            judged = reviews.live_coverage(review=review, summary=request.POST.get("summary", ""))
            return render(request, "sessions_app/_review_coverage.html", review_parts.coverage_of(judged))
        try:
            messages.success(request, review_acts.carry_out(request, review, act))
        except ServiceError as error:
            messages.error(request, f"{error} {error.remedy}".strip())
        return redirect("admin:sessions_app_compactionreview_change", review.pk)

    # --- the whole ---

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        waiting = self.get_queryset(request).waiting().count() if self.has_view_permission(request) else 0
        answer: HttpResponse = super().changelist_view(
            request, {"waiting": waiting, "is_nav_sidebar_enabled": False, **(extra_context or {})}
        )
        return answer

    def dashboard_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        figures = review_figures.figures(self.get_queryset(request))
        facts = {
            **self.admin_site.each_context(request),
            "title": "What was forgotten",
            "opts": self.opts,
            "charts": review_charts.charts(figures),
            "worst": figures.worst,
            "page": "reviews",
        }
        return TemplateResponse(request, "admin/sessions_app/compactionreview/dashboard.html", facts)

    def export_view(self, request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows, _ = review_list.chosen(self.get_queryset(request), request.GET)
        return review_list.export(rows, request.GET.get("format", "csv"))

    def get_urls(self) -> list[URLPattern]:
        guard = self.admin_site.admin_view
        name = "sessions_app_compactionreview"
        own = [
            path("dashboard/", guard(self.dashboard_view), name=f"{name}_dashboard"),
            path("export/", guard(self.export_view), name=f"{name}_export"),
            path("<str:object_id>/change/<slug:act>/", guard(self.act_view), name=f"{name}_act"),
        ]
        return [*own, *super().get_urls()]

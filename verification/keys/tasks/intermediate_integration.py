"""intermediate_integration: integrates elementary functions, none of which needs an unevaluated integral."""

from ._antiderivative import check, others, same, solve, wrong  # noqa: F401

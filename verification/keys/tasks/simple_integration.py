"""simple_integration: integrates polynomials in x, or in X with a dx that may mean either."""

from ._antiderivative import check, others, same, solve, wrong  # noqa: F401

"""The page that explains ε: seven screens, a glossary, and budgets of real deployments."""

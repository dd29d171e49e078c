"""The page that explains ε: six screens, a glossary, and budgets of real deployments."""

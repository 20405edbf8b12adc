"""The page that shows a model: `document` gathers its contents, and `page` writes it as HTML."""
